"""Tutorials run as they are read: a page that edits the project does so in a copy of it (scratch.py)."""

import ast
from pathlib import Path

import pytest

from tests.architecture.findings import require_none
from tests.architecture.test_docstrings import first_line_problems, members
from tests.docs.scratch import blocks_of, files_edited, run, run_in_copy
from tests.slow import mostly_slow

TUTORIALS = sorted((Path(__file__).parents[2] / "docs" / "tutorials").glob("*.md"))
NUM_FILES = {
    "add_a_method": 3, "add_a_perturbation": 3, "add_an_evaluation": 3, "add_an_attack": 2, "add_a_stopping_rule": 4,
}  # fmt: skip
"""How many files are made or edited by hand, tests included; CONTRIBUTING.md says the same."""


ALONE = [page for page in TUTORIALS if page.stem not in NUM_FILES]
"""Pages that edit no copy of the project, and run in seconds."""


@pytest.mark.parametrize("page", mostly_slow(TUTORIALS, fast=ALONE), ids=lambda page: page.stem)
def test_every_block_runs(page, tmp_path):
    assert any(not block.file for block in blocks_of(page))
    if files_edited(page):
        run_in_copy(page, tmp_path / "copy")
    else:
        run(page)


@pytest.mark.parametrize(("name", "number"), NUM_FILES.items())
def test_an_addition_takes_as_many_files_as_promised(name, number):
    (page,) = (page for page in TUTORIALS if page.stem == name)
    assert len(files_edited(page)) == number


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_what_a_page_adds_has_docstrings_as_contributing_asks(page):
    """Who copies a page must not be refused by tests/architecture/test_docstrings.py."""
    require_none(
        f"{block.name}: {problem}"
        for block in blocks_of(page)
        if block.options.get("title", "").startswith(("rse_study/", "analysis/"))
        for problem in docstring_problems(ast.parse(block.text))
    )


def docstring_problems(tree):
    """What is wrong with a module's docstrings, by name."""
    yield from first_line_problems(ast.get_docstring(tree))
    for _, name, node in members(tree):
        yield from (f"{name}: {problem}" for problem in first_line_problems(ast.get_docstring(node)))
