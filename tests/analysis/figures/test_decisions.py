"""The way of rows that get seeds until they are decided: figure, sentence, and when such a grid is complete."""

import math

import pytest

from analysis.figures.decisions import decisions_data, draw_decisions
from analysis.report import render
from analysis.sections.compared import decisions
from rse_study.results.comparing.anytime import confidence_sequence
from rse_study.results.files.ledger import Ledger
from tests.analysis import searched, tabled
from tests.analysis.outline import Outline
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


def test_the_page_of_a_search_shows_the_way_of_its_confirmed_trials(tmp_path, contents):
    until = {"until": "decided", "at_least": 3, "at_most": 9}
    resolved = {"confirm": searched.CONFIRM | {"seeds": until}, "seeds": [0], "num_trials": 16}
    study = searched.STUDY.model_copy(update={"resolved": resolved, "num_cells": 16 + 2 * 9})
    with Ledger.open(tmp_path / "planned") as ledger:
        searched.search(ledger, study)
    planned = Outline(render(contents(tmp_path / "planned"))).text
    assert "Planned, not done yet: the best trial and the base with 3 to 9 fresh seeds each." in planned
    assert "Until decided" not in planned
    with Ledger.open(tmp_path / "joint") as ledger:
        searched.search(ledger, study)
        for trial, gain in ((0, 0.0), (12, 3.0)):
            for seed in range(1, 7):
                top = BASE[seed] + gain + (-1) ** seed / 10 * (trial > 0)
                searched.run(ledger, searched.cell(trial, seed, "confirm"), "complete", searched.up_to(top))
    found = contents(tmp_path / "joint")
    assert found.search.counts["missing"] == 0
    text = Outline(render(found)).text
    for words in (
        "1 of 1 confirmed trial is decided",
        "up to 9",
        "12 cells",
        "would take 18",
        "Confirmation: 12 of 12 cells",
    ):
        assert words in text
    frame = decisions_data(found, found.search.rows)
    assert frame["row"].unique().tolist() == ["trial 12 (best of the search)"]
    assert frame["verdict"].iloc[-1] == "better"


COMPLETE = {
    "a row is undecided and has not all seeds": ({}, {}, False),
    "it has all that it may have": ({"at_most": 8}, {}, True),
    "all are decided": ({}, {"open": BETTER}, True),
    "a decided row has cells to run": ({"at_most": 8}, {"better": (*BETTER[:5], tabled.PLANNED)}, False),
}


@cases(("until", "rows", "is_complete"), COMPLETE.values(), COMPLETE)
def test_a_grid_is_complete_once_no_row_is_undecided_or_all_have_the_most(tmp_path, until, rows, is_complete):
    assert tabled.comparison_of(make(tmp_path, until, **rows)).is_complete == is_complete
