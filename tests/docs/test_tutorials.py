"""Tutorials run as they are read: every Python block of a page, one after the other, in one place."""

import re
from pathlib import Path

import pytest

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_there_is_one():
    assert TUTORIALS


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_every_block_runs(page):
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert blocks
    place = {"__name__": page.stem}
    for number, block in enumerate(blocks):
        exec(compile(block, f"{page.name}, block {number + 1}", "exec"), place)
