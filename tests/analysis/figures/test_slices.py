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
