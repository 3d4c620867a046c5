import pandas as pd
import pytest

from analysis.figures.slices import draw_slice, slice_data
from rse_study.results.study_record import AxisRecord

LOG = AxisRecord(name="step_size", symbol="alpha", paths=("a",), kind="float", low=1e-6, high=1e-3, log=True)
CHOICE = AxisRecord(name="norm", paths=("b",), kind="choice", choices=("l1", "l2", "linf"))
COUNT = AxisRecord(name="N", paths=("c",), kind="int", low=1, high=16)


@pytest.fixture
def table() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "trial": [0, 1, 2, 3],
            "status": ["complete", "stopped_early", "complete", "complete"],
            "alpha": [1e-5, 1e-4, 1e-6, 1e-3],
            "norm": ["linf", "l1", "l1", "l1"],
            "N": [1, 2, 3, 4],
            "objective": [50.0, 60.0, 51.0, float("nan")],
            "best": [False, False, True, False],
        }
    )


def test_complete_trials_are_compared_over_the_whole_range_of_an_axis_in_its_order(table):
    assert slice_data(table, "alpha").values.tolist() == [[0, 1e-5, 50.0, False], [2, 1e-6, 51.0, True]]
    axis = draw_slice(slice_data(table, "alpha"), LOG, "alpha").layout.xaxis
    assert axis.type == "log"
    assert axis.range[0] < -6 < -3 < axis.range[1]
    assert axis.title.text == "alpha"
    axis = draw_slice(slice_data(table, "norm"), CHOICE, "norm").layout.xaxis
    assert (axis.type, axis.categoryarray) == ("category", ("l1", "l2", "linf"))
    assert draw_slice(slice_data(table, "N"), COUNT, "N").layout.xaxis.type == "linear"


def test_many_dots_are_small_and_faint_but_the_best_one_stands_out():
    frame = pd.DataFrame({"trial": range(10_000), "value": 1e-5, "objective": 50.0, "best": False})
    frame.loc[7, "best"] = True
    marker = draw_slice(frame, LOG, "alpha").data[0].marker
    assert (marker.size[7], marker.opacity[7]) == (9, 1)
    assert (marker.size[8], marker.opacity[8]) == (3, 0.3)
    assert marker.color[7] != marker.color[8]
