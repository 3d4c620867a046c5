import pytest

from analysis.report import render
from analysis.sections.compared import compared
from rse_study.results.files.ledger import Ledger
from tests.analysis import gridded, tabled


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The grid with a baseline, beside a paper's table, at mini scale."""
    resolved = {
        "grid": {"axes": {}, "baseline": "base"},
        "paper": {"table": "rse-section-b4", "scale": "mini"},
    }
    folder = tmp_path_factory.mktemp("compared")
    with Ledger.open(folder) as ledger:
        gridded.grid(ledger)
        ledger.freeze(gridded.STUDY.model_copy(update={"resolved": resolved}))
    return folder


def read(folder, contents):
    return tabled.comparison_of(folder), contents(folder)


def test_rows_stand_beside_the_baseline_and_without_one_there_is_no_such_section(folder, contents, grid_dir):
    comparison, found = read(folder, contents)
    html = compared(found, comparison)
    assert "<h2>Compared</h2>" in html
    assert "minus base" in html
    one = comparison.compared["without PGD"]
    assert f"[−{abs(one.simultaneous.low):.2f}" in html
    assert "proves nothing about BERT-base" in html
    assert html in render(found, comparison)
    comparison, _ = read(folder, contents)
    assert {comparison.words(judged) for judged in comparison.judged} == {"not asked"}
    comparison, found = read(grid_dir, contents)
    assert compared(found, comparison) == ""
