import math

import pytest

from analysis.figures.forest import (
    columns_forest_data,
    decisions_data,
    differences_data,
    draw_decisions,
    draw_forest,
)
from analysis.report import render
from analysis.scores import result_scores
from analysis.sections.compared import compared, decisions
from rse_study.results.files.ledger import Ledger
from rse_study.results.statistics import confidence_sequence
from tests.analysis import gridded, searched, tabled
from tests.cases import cases

ROWS = {
    "norm = linf": (60.0, 61.0, 62.0, 63.0),
    "norm = l2": (59.0, 60.1, 61.0, 61.9),
    "norm = l1": (60.5, 60.0, 62.5, 62.0),
}


PRINTED = {"norm = linf": 77.90, "norm = l2": 76.84}
BASE = (60.0, 61.5, 59.0, 62.0, 60.5, 61.0, 60.0, 59.5)
BETTER = tuple(value + 3 + (-1) ** seed / 10 for seed, value in enumerate(BASE[:6]))
OPEN = tuple(value + 2 * math.cos(3 * seed) for seed, value in enumerate(BASE))
UNTIL = {"at_least": 3, "at_most": 9}


@pytest.fixture
def found(tmp_path, contents):
    return contents(tabled.make(tmp_path, ROWS, baseline="norm = linf", evaluations=("SICK-R/test",)))


def scored(found):
    """The scores of the objective alone."""
    frame = result_scores(found)
    return frame[frame["measure"] == found.label]


def test_the_papers_differences_stand_beside_ours(found):
    frame = differences_data(found, scored(found), printed=PRINTED).set_index("row")
    assert list(frame.index) == ["norm = l2", "norm = l1"]
    assert frame.loc["norm = l2", "difference"] == pytest.approx(-1.0)
    assert frame.loc["norm = l2", "paper"] == pytest.approx(76.84 - 77.90)
    assert math.isnan(frame.loc["norm = l1", "paper"])
    assert not draw_forest(columns_forest_data(())).data


def test_an_interval_without_0_is_full_and_below_3_seeds_there_is_none(found):
    frame = differences_data(found, scored(found))
    (trace,) = draw_forest(frame).data
    assert list(trace.marker.symbol) == ["circle", "circle-open"]
    few = scored(found)
    few = differences_data(found, few[few["seed"].isna() | (few["seed"] < 2)])
    assert few["difference"].tolist() == pytest.approx([-0.95, -0.25])
    assert few[["low", "high"]].isna().all(axis=None)


def test_without_a_baseline_rows_are_compared_with_the_start_if_it_was_measured(tmp_path, contents):
    folder = tabled.make(tmp_path, ROWS)
    assert differences_data(contents(folder), scored(contents(folder))).empty
    with Ledger.open(folder) as ledger:
        ledger.record_evaluations([searched.measure("start", "STS-B/dev", 60.0)])
    frame = differences_data(contents(folder), scored(contents(folder)))
    assert frame["minus"].unique().tolist() == ["before training"]
    assert frame["difference"].tolist() == pytest.approx([1.5, 0.5, 1.25])


def make(folder, until=None, **rows):
    rows = {"base": BASE, "better": BETTER, "open": OPEN} | rows
    return tabled.make(folder / "s", rows, baseline="base", until=UNTIL | (until or {}))


def test_each_number_of_seeds_has_its_confidence_sequence_and_the_last_says_the_verdict(tmp_path, contents):
    folder = make(tmp_path)
    found = contents(folder)
    frame = decisions_data(found, found.search.rows)
    assert frame.groupby("row")["num_seeds"].agg(["min", "max"]).values.tolist() == [[2, 6], [2, 8]]
    six = frame[(frame["row"] == "better") & (frame["num_seeds"] == 6)].iloc[0]
    expected = confidence_sequence([3.1, 2.9] * 3, 1 - 0.05 / 2)
    assert (six["low"], six["high"]) == (pytest.approx(expected.low), pytest.approx(expected.high))
    assert six["verdict"] == "better"
    assert frame.loc[frame["num_seeds"] < 6, "low"].isna().all()
    figure = draw_decisions(frame, margin=0.5)
    assert [note.text for note in figure.layout.annotations] == ["better: better", "open: undecided"]
    assert len(figure.data) == 4


def test_the_page_says_what_was_spent_and_other_grids_have_no_such_section(tmp_path, contents):
    folder = make(tmp_path)
    comparison, found = tabled.comparison_of(folder), contents(folder)
    html = decisions(found)
    for words in ("1 of 2 rows is decided", "3 seeds, and more, up to 9", "22 cells", "would take 27"):
        assert words in html
    page = render(found, comparison)
    assert html in page
    assert "Grid of 3 rows x up to 8 seeds: 22 of 24 cells complete, 2 to run" in page
    listed = tabled.make(tmp_path / "listed", {"base": BASE, "open": OPEN}, baseline="base")
    assert decisions(contents(listed)) == ""


COMPLETE = {
    "a row is undecided and has not all seeds": ({}, {}, False),
    "it has all that it may have": ({"at_most": 8}, {}, True),
    "all are decided": ({}, {"open": BETTER}, True),
    "a decided row has cells to run": ({"at_most": 8}, {"better": (*BETTER[:5], tabled.PLANNED)}, False),
}


@cases(("until", "rows", "is_complete"), COMPLETE.values(), COMPLETE)
def test_a_grid_is_complete_once_no_row_is_undecided_or_all_have_the_most(tmp_path, until, rows, is_complete):
    assert tabled.comparison_of(make(tmp_path, until, **rows)).is_complete == is_complete


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
