import dataclasses

from analysis.sections.results import checks_table, diagnostics
from rse_study.perturbations.blend import Blend
from rse_study.results.row_checks import RowChecks
from tests.analysis.outline import Outline


def test_every_row_has_a_figure_of_its_own_with_its_verdict(grid_dir, contents):
    found = contents(grid_dir)
    page = diagnostics(found)
    outline = Outline(page)
    rows = [one.row for one in found.checks]
    assert outline.figures == [f"diagnostic-{number}" for number in range(len(rows))]
    assert len(rows) > 3
    assert all(f"{row} (checks not recorded)" in outline.text for row in rows)
    assert page.count("<details>") == len(rows) + 1  # folded, and how to read them
    assert diagnostics(dataclasses.replace(found, diagnostics=found.diagnostics[:0])) == ""


def test_the_table_says_what_was_measured_where_the_limit_is_and_why():
    moved, of_bound, *_, saturated, _ = Blend.checks
    row = RowChecks("row", [(moved, 0.0017), (of_bound, 0.0017), (saturated, 0.99)], True)
    table = checks_table(row)
    assert table["verdict"].tolist() == ["inert", "", "inert"]
    assert table["alive"].tolist() == ["from 10%", "", "up to 95%"]
    assert table["measure"][0] == "it moves by 0.17% of the norm of its random start"
    assert all(table["reason"][[0, 2]])
