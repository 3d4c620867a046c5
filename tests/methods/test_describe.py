"""docs/methods.md is what the registry says, and says of every method where it departs from its paper."""

from pathlib import Path

from rse_study.methods import METHODS
from rse_study.methods.describe import RECORDS, SOURCES, page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_page_is_that_of_the_code():
    assert (DOCS / "methods.md").read_text(encoding="utf-8") == page(), "run `make methods`"


def test_every_method_has_a_source_and_records_that_exist():
    assert SOURCES.keys() == METHODS.keys()
    named = {number for _, _, numbers in SOURCES.values() for number in numbers}
    assert named == RECORDS.keys()
    assert all((DOCS / "decisions" / name).is_file() for name in RECORDS.values())


def test_fields_stand_with_symbol_default_and_bounds():
    text = page()
    assert "| `blend.rho` | rho | 0.5 | float, >= 0, <= 1 |" in text
    assert "| `blend.pgd.ball.norm` | P | linf | l1, l2, linf |" in text
    assert "| `r.num_steps` | K | 1 | int, >= 0 |" in text
