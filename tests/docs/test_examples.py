"""Examples in docstrings give what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MODULES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for package in ("rse_study", "analysis")
    for path in (ROOT / package).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("module", MODULES)
def test_every_example_of_a_module_is_true(module):
    found = doctest.testmod(import_module(module.removesuffix(".__init__")), verbose=False)
    assert found.attempted > 0
    assert found.failed == 0
