import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from analysis.figures.curves import curve_data, draw_curves

TABLE = pd.DataFrame(
    {
        "identity": ["a", "b", "c", "d"],
        "trial": [0, 1, 2, 3],
        "label": ["base", "", "", ""],
        "status": ["complete", "stopped_early", "complete", "running"],
        "best": [False, False, True, False],
    }
)
CURVES = pd.DataFrame(
    [("a", 30, 2.0), ("a", 15, 1.0), ("b", 15, 0.5), ("c", 15, 3.0), ("c", 30, float("nan")), ("z", 15, 9.0)],
    columns=["cell", "t", "value"],
)


@pytest.fixture
def frame():
    return curve_data(TABLE, CURVES)


def test_curves_are_those_of_the_trials_in_order_and_a_base_may_be_the_best(frame):
    assert frame.values.tolist() == [
        [0, 15, 1.0, "complete", "base", False],
        [0, 30, 2.0, "complete", "base", True],
        [1, 15, 0.5, "stopped_early", "other", True],
        [2, 15, 3.0, "complete", "best", True],
    ]
    table = TABLE.assign(best=[True, False, False, False])
    assert set(curve_data(table, CURVES).query("trial == 0")["role"]) == {"best base"}


def test_each_look_is_one_trace_rungs_are_upright_and_stopped_cells_end_hollow(frame):
    two = pd.concat([frame, frame[frame["trial"] == 1].assign(trial=5)])
    others = next(trace for trace in draw_curves(two, (), "dev").data if trace.name == "other trials")
    assert_array_equal(others.x, [15, np.nan, 15, np.nan])
    assert_array_equal(others.y, [0.5, np.nan, 0.5, np.nan])
    assert list(others.customdata) == [1, 1, 5, 5]
    figure = draw_curves(frame, (15, 30), "dev")
    assert [shape.x0 for shape in figure.layout.shapes] == [15, 30]
    ends = [trace for trace in figure.data if trace.name == "stopped early"]
    assert [(list(end.x), list(end.y), end.marker.symbol) for end in ends] == [([15], [0.5], "circle-open")]
