"""What a report shows of a search in which some axes belong to some trials only."""

import math

import pandas as pd
import pytest

from analysis.figures.searched import draw_parallel, draw_ranks, draw_slice, optuna_of
from analysis.report import write_report
from analysis.scores import show_trials
from analysis.search import base_values, settings, trials
from tests.analysis import conditional
from tests.analysis.outline import Outline

DASH = "\N{EN DASH}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return conditional.make(tmp_path_factory.mktemp("ledgers") / "methods")


@pytest.fixture(scope="module")
def found(folder, contents):
    return contents(folder)


def test_a_table_has_a_dash_and_the_best_setting_a_word_where_an_axis_does_not_belong(found):
    shown = show_trials(found, trials(found), pd.DataFrame({"label": [], "value": [], "degenerate": []}))
    assert shown.loc[shown["method"] == "dcl", ["alpha", "norm"]].eq(DASH).all(axis=None)
    assert shown.loc[shown["method"] != "dcl", "width"].eq(DASH).all()
    assert not shown[["method", "xi"]].eq(DASH).any(axis=None)
    rows = settings(found, trials(found)).set_index("axis")
    assert rows.loc["method", ["best", "base"]].tolist() == ["dcl", "paper"]
    assert rows.loc["width", ["best", "base"]].tolist() == ["6", DASH]
    assert rows.loc["width", "searched"] == "1 to 9, if method = dcl"
    assert rows.loc["norm", ["best", "searched"]].tolist() == [DASH, "l1, l2, if method = paper or l2p"]
    without = found.cells[found.cells["label"] != "base"]
    values = base_values(type(found)(**{**vars(found), "cells": without}))
    assert values == {"method": None, "alpha": None, "norm": None, "width": None, "lr": 1e-4}


def test_a_trial_has_a_line_a_dot_and_a_place_on_its_own_axes_alone(found):
    study, names = optuna_of(found), {name: name for name in ("method", "alpha", "norm", "width", "lr")}
    of_dcl = study.trials[conditional.BEST]
    assert of_dcl.params.keys() == {"method", "width", "lr"}
    score = of_dcl.value
    figure = draw_parallel(study, names, "score", {"best": score}, is_less_better=False)
    (best,) = (trace for trace in figure.data if trace.name == "best (1)")
    assert list(best.text[:-1])[:4] == ["score: 72.5", "alpha: None", "lr: 0.00015", "method: dcl"]
    assert math.isnan(best.x[-1])
    ranks = draw_ranks(study, names, "score")
    numbers = {trace.meta: len(trace.ids) for trace in ranks.data if trace.ids}
    assert (numbers["method lr"], numbers["alpha norm"]) == (18, 6)
    assert "alpha width" not in numbers
    assert len(draw_slice(study, "width", "width", "score", best=()).data[0].ids) == 6


def test_the_report_is_written_and_says_all_this(folder, tmp_path):
    outline = Outline(write_report(folder, tmp_path / "report.html").read_text(encoding="utf-8"))
    for words in (
        "trial 14", "method paper dcl", "width", "1 to 9, if method = dcl", "belong to some trials only",
        "method = paper or l2p: 12 trials", "18 trials", "fANOVA: method has the largest share",
    ):  # fmt: skip
        assert words in outline.text, words
    assert {"parallel", "ranks", "importance", *(f"slice-{n}" for n in range(5))} <= set(outline.figures)
    opening = outline.text[: outline.text.index("searched")]
    assert "alpha" not in opening.split("trial 14")[1][:60]
