"""Numbers in the figures of a search's cells, computed by hand from a ledger of six trials."""

import dataclasses
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from analysis.contents import baseline_scores
from analysis.figures import searched as figures
from analysis.figures.attempts import (
    BAR,
    LINE,
    UNKNOWN,
    alike,
    draw_reasons,
    draw_timeline,
    named,
    reasons_data,
    stacked,
    timeline_data,
    unit_of,
)
from analysis.figures.curves import curve_data, draw_curves
from analysis.figures.pareto import draw_pareto, front, pareto_data
from analysis.figures.search_features import (
    draw_importance,
    draw_path,
    draw_rungs,
    importance_data,
    not_told_apart,
    path_data,
    rungs_data,
)
from analysis.figures.searched import draw_history, draw_parallel
from analysis.search import trials
from analysis.sections.account import cell_names
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


NAMES = {name: f"its {name}" for name in searched.NAMES}


@pytest.fixture
def complete(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    return found, table[table["status"] == "complete"]


def test_a_dot_has_its_trial_and_its_score_and_the_best_an_orange_edge(complete):
    found, table = complete
    study = figures.drawn_study(found, table)
    (dots,) = figures.draw_slice(study, "norm", "its norm", "dev", best=[12]).data
    assert sorted(dots.ids) == sorted(table["trial"])
    assert set(dots.x) <= {"l1", "l2", "linf"}
    edges = dict(zip(dots.ids, dots.marker.line.color, strict=True))
    assert [number for number, colour in edges.items() if colour == figures.style.ORANGE] == [12]
    ranks = figures.draw_ranks(study, NAMES, "dev")
    shown = {trace.meta: trace for trace in ranks.data if trace.ids}
    assert len(shown) == 8 * 7 // 2
    best = shown["alpha beta"].ids.index(12)
    assert shown["alpha beta"].hovertext[best].startswith("trial 12: ")
    assert len(set(shown["alpha beta"].marker.color)) == len(table)
    assert ranks.layout.updatemenus[0].buttons[0].label == "its alpha and its beta"


def test_the_best_so_far_rises_over_dots_between_baselines(complete):
    found, table = complete
    scores = baseline_scores(found.study, found.evaluations, found.study.objective.evaluation)
    figure = draw_history(figures.drawn_study(found, table), scores, "dev", best=[12])
    dots, line = figure.data[0], figure.data[1]
    assert list(dots.ids) == table["trial"].tolist() and [text for text in dots.text if text] == ["12"]
    assert line.name == "best so far" and line.y[-1] == table["objective"].max()
    low, high = figure.layout.yaxis.range
    assert low < min(dots.y) < max(dots.y) < high
    assert figure.data[3].name == "token overlap: 41.25 (outside)"


def test_lines_are_grouped_by_rank_with_base_and_best_in_front(complete):
    found, table = complete
    study, scores = figures.drawn_study(found, table), table.set_index("trial")["objective"]
    marked = {"base": scores[0], "best": scores.max()}
    figure = draw_parallel(study, NAMES, "dev", marked, is_less_better=False)
    names = ", ".join(trace.name for trace in figure.data)
    assert names == "lower half (2), better half (2), base (1), best (1)"
    best = figure.data[-1]
    assert (best.x[0], best.y[0]) == (1.0, 0.0)  # its score is the end of the uppermost axis
    assert figure.layout.yaxis.ticktext[1] == "its N"
    turned = draw_parallel(study, NAMES, "loss", {"best": scores.min()}, is_less_better=True)
    assert turned.data[-1].x[0] == 0.0


def test_of_very_many_trials_a_sample_is_drawn_with_the_best_and_the_base(complete, monkeypatch):
    found, table = complete
    monkeypatch.setattr(figures, "MOST_TRIALS", 2)
    drawn = [one.number for one in figures.trials_of(figures.drawn_study(found, table))]
    assert {0, 12} <= set(drawn) and len(drawn) <= 4 < len(table)


def test_the_most_important_axis_is_on_top_and_a_whisker_spans_the_interval(search_dir, contents):
    frame = importance_data(contents(search_dir))
    assert len(frame) == 16
    assert frame["axis"].iloc[0] == "rho"  # 5/36 and 8/36
    assert frame["mean"].is_monotonic_decreasing
    figure = draw_importance(frame)
    assert [trace.name for trace in figure.data] == ["fanova", "mdi"]
    assert figure.layout.yaxis.categoryarray[-1] == "rho"  # plotly counts from below
    assert all(len(trace.x) == 8 for trace in figure.data)
    with_interval, without = draw_importance(frame).data
    part = frame[frame["evaluator"] == "fanova"]
    assert list(part["value"] + with_interval.error_x.array) == pytest.approx(list(part["high"]))
    assert list(part["value"] - with_interval.error_x.arrayminus) == pytest.approx(list(part["low"]))
    assert np.isnan(list(without.error_x.array)).all()
    assert " (0.114 to 0.164), over 6" in with_interval.customdata
    assert set(without.customdata) == {", over 6"}


def test_axes_whose_intervals_overlap_with_the_first_are_not_told_apart():
    frame = pd.DataFrame(
        [("phi", 0.5, 0.3, 0.7), ("rho", 0.2, 0.1, 0.31), ("N", 0.1, 0.0, 0.29), ("norm", 0.2, 0.1, 0.3)],
        columns=["axis", "value", "low", "high"],
    )
    assert not_told_apart(frame) == ("phi", ["rho", "norm"])
    assert not_told_apart(frame[frame["axis"].isin(["phi", "N"])]) == ("phi", [])
    assert not_told_apart(frame.assign(low=np.nan, high=np.nan)) == ("phi", [])


def test_a_row_is_a_point_every_round_keeps_one_and_gains_are_seed_by_seed(path_dir, contents, search_dir):
    frame = path_data(contents(path_dir))
    assert len(frame) == 37
    kept = frame[frame["is_kept"]]
    assert kept["place"].tolist() == list(range(9))
    assert kept["axis"].tolist()[:3] == ["", "lambda2", "norm"]
    assert (frame.groupby("place").size() == [1, *range(8, 0, -1)]).all()
    assert (frame["num_seeds"] == 3).all()
    best = frame.groupby("place")["mean"].max()
    assert (kept.set_index("place")["mean"] == best).all()
    frame = path_data(contents(path_dir)).set_index(["place", "axis"])
    # The base: 59.4 and 60.6 of the confirmation, 60.9 of seed 3; with lambda2 = 0.126: 61.4, 61.9, 62.4.
    first = frame.loc[(1, "lambda2")]
    assert (first["before"], first["after"]) == ("0.005", "0.126")
    assert first["gain"] == pytest.approx(1.6)
    assert first["mean"] == pytest.approx(61.9)
    assert first["gain_low"] < first["gain"] < first["gain_high"]
    assert frame.loc[(2, "rho"), "gain"] == pytest.approx(-0.2)  # against lambda2 alone
    others, bars, means = draw_path(path_data(contents(path_dir)), "dev").data
    assert (len(others.x), len(bars.x), len(means.x)) == (28, 8, 9)
    begins, gains, ends = (np.array(one, dtype=float) for one in (bars.base, bars.x, means.x))
    assert begins + gains == pytest.approx(ends[1:])
    assert begins == pytest.approx(ends[:-1])  # a bar begins where the one before ends
    assert bars.error_x.array[0] == pytest.approx(1.38, abs=0.01)  # of the paired gain, not of the mean
    assert path_data(contents(search_dir)).empty


def test_of_an_open_path_what_has_ended_is_shown(tmp_path, contents):
    def two_rounds(ledger):
        searched.path(ledger, num_rounds=2)

    parts = (searched.search, searched.confirm, two_rounds)
    found = contents(searched.make(tmp_path / "joint", *parts))
    frame = path_data(found)
    assert not found.search.path.is_over
    assert frame["place"].max() == 2
    assert frame[frame["is_kept"]]["place"].tolist() == [0, 1, 2]


def test_reasons_that_differ_in_numbers_are_one_and_texts_stand_below_one_another():
    assert alike("step 3: the loss is nan") == alike("step 17: the loss is nan") == "step N: the loss is nan"
    assert alike("out of 1.5e-3 at 0123456789abcdef") == "out of N at ID"
    assert alike("STS12 is not here\nmore") == "STS12 is not here"
    assert alike("") == UNKNOWN
    assert len(alike("x" * 500)) == 140
    texts = {"short": "short", "long": "<br>".join("long"), "last": "two<br>lines"}
    place, height = stacked(texts)
    for before, after in (("short", "long"), ("long", "last")):
        room = place[after] - place[before] - BAR
        assert room > LINE * (texts[after].count("<br>") + 1)
    assert place["last"] + BAR / 2 < height


def test_failed_cells_and_lost_attempts_are_counted_and_not_all_named(search_dir, contents, grid_dir):
    found = contents(search_dir)
    attempts = found.attempts
    frame = reasons_data(dataclasses.replace(found, attempts=attempts), cell_names(found))
    assert frame.values.tolist() == [
        ["step N: the loss is nan", "failed cells", 1, "trial 5, seed 0"],
        ["the process that ran it is gone", "lost attempts", 1, "trial 9, seed 0"],
    ]
    figure = draw_reasons(frame)
    assert [trace.name for trace in figure.data] == ["failed cells", "lost attempts"]
    expected = ["step N: the loss is nan (1 time)", "the process that ran it is gone (1 time)"]
    assert [note.text for note in figure.layout.annotations] == expected
    names = contents(grid_dir).cells["identity"]
    assert named(names).endswith(f"and {len(names) - 12} more")
    found = contents(grid_dir)
    well = dataclasses.replace(found, cells=found.cells[found.cells["status"] == "complete"])
    assert reasons_data(well, cell_names(well)).empty


def test_a_row_has_the_mean_of_its_seeds_and_the_front_is_what_nothing_beats_in_both(grid_dir, contents):
    frame = pareto_data(contents(grid_dir)).set_index("row")
    assert frame.loc["lambda1 = 0.125", ["objective", "seconds", "num_cells"]].tolist() == [64.0, 40.0, 3]
    assert frame.loc["without the token level", "num_cells"] == 1
    assert frame.loc["base", "is_base"]
    costs, scores = pd.Series([1.0, 2.0, 3.0, 3.0, 1.0]), pd.Series([5.0, 4.0, 6.0, 7.0, 3.0])
    assert front(costs, scores).tolist() == [True, False, False, True, False]
    assert front(costs, scores, is_less_better=True).tolist() == [False, False, False, False, True]
    assert front(costs[:0], scores[:0]).empty


def test_time_and_steps_are_chosen_and_stopped_trials_are_not_on_the_line(search_dir, contents):
    frame = pareto_data(contents(search_dir))
    assert set(frame["status"]) == {"complete", "stopped_early"}
    figure = draw_pareto(frame, "dev")
    (menu,) = figure.layout.updatemenus
    expected = ["training seconds of a cell", "optimiser steps of a cell"]
    assert [button.label for button in menu.buttons] == expected
    shown = [trace for trace in figure.data if trace.visible]
    assert {trace.meta for trace in shown} == {"seconds"}
    line = next(trace for trace in shown if trace.name == "Pareto front")
    best = frame[frame["row"] == "trial 12"].iloc[0]
    assert line.y[-1] == pytest.approx(best["objective"])
    assert len([trace for trace in figure.data if trace.name == "stopped early"]) == 2
