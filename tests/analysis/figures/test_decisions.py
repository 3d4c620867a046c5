"""The way of rows that get seeds until they are decided: figure, sentence, and when such a grid is complete."""

import math

import pytest

from analysis.figures.forest import decisions_data, draw_decisions
from analysis.report import render
from analysis.sections.compared import decisions
from rse_study.results.statistics import confidence_sequence
from tests.analysis import tabled
from tests.cases import cases

BASE = (60.0, 61.5, 59.0, 62.0, 60.5, 61.0, 60.0, 59.5)
BETTER = tuple(value + 3 + (-1) ** seed / 10 for seed, value in enumerate(BASE[:6]))
OPEN = tuple(value + 2 * math.cos(3 * seed) for seed, value in enumerate(BASE))
UNTIL = {"at_least": 3, "at_most": 9}


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
