import math
from dataclasses import replace

import pandas as pd
import pytest

from analysis.figures.forest import columns_forest_data, draw_forest, forest_data
from rse_study.results.comparing.criterion import Criterion
from tests.analysis import tabled

ROWS = {
    "norm = linf": (60.0, 61.0, 62.0, 63.0),
    "norm = l2": (59.0, 60.1, 61.0, 61.9),
    "norm = l1": (60.5, 60.0, 62.5, 62.0),
}


@pytest.fixture
def comparison(tmp_path):
    paper = {"table": "rse-table5", "scale": "mini"}
    folder = tabled.make(tmp_path, ROWS, baseline="norm = linf", paper=paper)
    return tabled.comparison_of(folder)


def test_ours_stand_beside_the_papers_and_columns_without_intervals_have_no_line(comparison):
    frame = forest_data(comparison).set_index("row")
    assert list(frame.index) == ["norm = l2", "norm = l1"]
    assert frame.loc["norm = l2", "difference"] == pytest.approx(-1.0)
    assert frame.loc["norm = l2", "paper"] == pytest.approx(76.84 - 77.90)
    alone, at_once = (frame[f"{name}high"] - frame[f"{name}low"] for name in ("alone_", ""))
    assert (alone < at_once).all()
    assert columns_forest_data(comparison.columns).empty
    assert not draw_forest(columns_forest_data(())).data


def test_an_interval_without_0_is_full_and_columns_of_a_table_are_chosen(comparison):
    figure = draw_forest(forest_data(comparison))
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces["95% at once, 0 outside"].y) == [0]
    assert traces["95% at once, 0 inside"].marker.symbol == "circle-open"
    assert len(traces["the paper's"].x) == 2
    assert figure.layout.yaxis.ticktext == ("norm = l2", "norm = l1")
    assert not figure.layout.updatemenus
    frame = forest_data(comparison)
    two = pd.concat([frame, frame.iloc[:1].assign(column="SICK-R", paper=math.nan)])
    figure = draw_forest(two)
    (menu,) = figure.layout.updatemenus
    assert [button.label for button in menu.buttons] == ["STS-B dev, Spearman x100", "SICK-R"]
    assert menu.buttons[1].args[1]["yaxis.ticktext"] == ["norm = l2"]
    assert {trace.meta for trace in figure.data if trace.visible} == {"STS-B dev, Spearman x100"}


def test_an_interval_without_bounds_is_not_drawn(comparison):
    looked = {
        row: replace(one, criterion=Criterion(is_anytime=True)) for row, one in comparison.compared.items()
    }
    assert math.isinf(looked["norm = l2"].deciding.low)  # too few seeds for a confidence sequence
    frame = forest_data(replace(comparison, compared=looked))
    assert frame[["low", "high"]].isna().all(axis=None)
    assert frame[["alone_low", "alone_high"]].notna().all(axis=None)
