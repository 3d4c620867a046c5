"""Numbers in the figures of a search's cells, computed by hand from a ledger of six trials."""

from dataclasses import replace

import pytest

from analysis.figures.attempts import draw_timeline, timeline_data, unit_of
from analysis.figures.curves import curve_data, draw_curves
from analysis.figures.search_features import draw_rungs, rungs_data
from analysis.search import trials
from rse_study.results.files.result_file import Point
from rse_study.results.records import RungRow
from rse_study.results.study_record import AxisRecord
from tests.analysis import searched

AXES = (
    AxisRecord(name="alpha", symbol="alpha", paths=("a",), kind="float", low=1e-6, high=1e-2, log=True),
    AxisRecord(name="N", paths=("b",), kind="int", low=1, high=16),
    AxisRecord(name="norm", paths=("c",), kind="choice", choices=("l1", "l2", "linf")),
)
STUDY = searched.STUDY.model_copy(update={"axes": AXES, "num_trials": 6, "num_cells": 6, "resolved": {}})
TRIALS = (
    (1e-4, 6, "linf", "complete", {15: 50.0, 60: 52.0}),  # the base
    (1e-6, 1, "l1", "stopped_early", {15: 60.0}),
    (1e-2, 16, "l2", "complete", {15: 51.0, 60: 55.0}),  # the best
    (1e-6, 16, "l1", "failed", {}),
    (1e-6, 16, "l1", "complete", {15: 52.0, 60: 49.0}),
    (1e-2, 1, "linf", "complete", {15: 53.0, 60: 53.0}),
)


def six(ledger):
    for trial, (*point, status, scores) in enumerate(TRIALS):
        proposal = dict(zip(("alpha", "N", "norm"), point, strict=True))
        cell = searched.planned(trial, 0, "search", "" if trial else "base", proposal)
        ledger.plan([cell])
        history = tuple(Point(t=t, metrics={"dev": value}) for t, value in scores.items())
        searched.run(ledger, cell, status, history, reason="the loss is nan" if status == "failed" else "")
        if scores:
            verdict = "stop" if status == "stopped_early" else "continue"
            ledger.record_rung(RungRow(cell=cell.identity, t=15, value=scores[15], verdict=verdict))


@pytest.fixture
def found(tmp_path, contents):
    return contents(searched.make(tmp_path / "six", six, study=STUDY))


@pytest.fixture
def table(found):
    return trials(found)


def lines_of(figure):
    return {trace.name: trace for trace in figure.data}


def test_curves_and_verdicts_have_the_value_at_each_step(found, table):
    frame = curve_data(table, found.curves)
    assert frame[["trial", "t", "value"]].values.tolist() == [
        [trial, t, value] for trial, one in enumerate(TRIALS) for t, value in one[-1].items()
    ]
    assert frame.drop_duplicates("trial")["role"].tolist() == ["base", "other", "best", "other", "other"]
    lines = lines_of(draw_curves(frame, (15,), "dev"))
    assert (list(lines["stopped early"].x), list(lines["stopped early"].y)) == ([15], [60])
    frame = rungs_data(found)
    assert frame[["trial", "value"]].values.tolist() == [[0, 50], [1, 60], [2, 51], [4, 52], [5, 53]]
    assert frame["order"].tolist() == [0, 0.2, 0.4, 0.8, 1.0]
    assert list(lines_of(draw_rungs(frame, "dev"))["stopped (1)"].y) == [60]


def test_attempts_that_overlap_have_lanes_of_their_own(found):
    starts, ends = (0, 1, 2, 5, 5, 9), (3, 11, 3, 6, "", 10)  # minutes; the fifth is still running
    stamps = {name: [minute if minute == "" else f"2026-11-01T08:{minute:02d}:00+00:00" for minute in minutes]
              for name, minutes in (("started", starts), ("ended", ends))}  # fmt: skip
    frame = timeline_data(replace(found, attempts=found.attempts.assign(**stamps)), {})
    assert frame["from_s"].tolist() == [60 * start for start in starts]
    assert frame["seconds"].tolist() == [180, 600, 60, 60, 360, 60]
    assert frame["lane"].tolist() == [0, 1, 2, 0, 2, 0]
    assert [x for trace in draw_timeline(frame).data for x in trace.base] == [0, 2, 5, 9, 1, 5]
    assert [unit_of(length)[1] for length in (5, 300, 9000, 3e5)] == ["seconds", "minutes", "hours", "days"]
