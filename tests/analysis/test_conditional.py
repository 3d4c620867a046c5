"""What a report shows of a search in which some axes belong to some trials only."""

import json
import math

import pandas as pd
import pytest

from analysis.figures.contour import contour_data
from analysis.figures.parallel import draw_parallel, parallel_data
from analysis.figures.rulers import positions_data, rulers_of
from analysis.figures.slices import slice_data
from analysis.report import write_report
from analysis.search import base_values, settings, trials
from analysis.tables import show_trials
from rse_study.results.reader import Reader
from tests.analysis import conditional
from tests.analysis.outline import Outline

DASH = "\N{EN DASH}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return conditional.make(tmp_path_factory.mktemp("ledgers") / "methods")


@pytest.fixture(scope="module")
def found(folder, contents):
    return contents(folder)


@pytest.fixture(scope="module")
def positions(found):
    table = trials(found)
    return positions_data(table, rulers_of(table, found.study.axes, found.study.headings))


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


def test_a_trial_has_a_place_a_line_and_a_map_on_its_own_axes_alone(positions, found):
    of_dcl = positions[positions["trial"] == conditional.BEST]
    assert of_dcl["axis"].tolist() == ["method", "width", "xi"]
    assert of_dcl["position"].notna().all()
    assert len(positions) == 6 * 4 + 6 * 3 + 6 * 3
    rulers = rulers_of(trials(found), found.study.axes, found.study.headings)
    figure = draw_parallel(parallel_data(positions, "maximize"), rulers, "score")
    (best,) = (trace for trace in figure.data if trace.name == "best (1)")
    assert best.mode == "lines+markers"
    assert list(best.y) == [0, 3, 4, 5, 5]  # method, width, lr, the score; then a gap
    assert math.isnan(best.x[-1])
    pairs = contour_data(positions).groupby(["x_axis", "y_axis"])["trial"].nunique().to_dict()
    assert pairs[("method", "xi")] == 18
    assert pairs[("alpha", "norm")] == 6
    assert ("alpha", "width") not in pairs
    assert len(slice_data(trials(found), "width")) == 6


def test_the_report_is_written_and_says_all_this(folder, tmp_path):
    outline = Outline(write_report(folder, tmp_path / "report.html").read_text(encoding="utf-8"))
    for words in (
        "trial 14", "method dcl (base paper), width 6, xi", "1 to 9, if method = dcl", "belong to some trials only",
        "method = paper or l2p: 12 trials", "18 trials", "fANOVA: method has the largest share",
    ):  # fmt: skip
        assert words in outline.text, words
    assert {"parallel", "contour", "importance", *(f"slice-{n}" for n in range(5))} <= set(outline.figures)
    opening = outline.text[: outline.text.index("searched")]
    assert "alpha" not in opening.split("trial 14")[1][:60]


def test_a_ledger_is_told_where_axes_belong(folder):
    with Reader(folder) as reader:
        study = reader.study()
    assert study.axes == conditional.AXES
    assert json.loads(study.model_dump_json())["axes"][1]["when"] == {"method": ["paper"]}
