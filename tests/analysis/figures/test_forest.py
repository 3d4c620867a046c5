import math

import pytest

from analysis.figures.forest import columns_forest_data, differences_data, draw_forest
from analysis.scores import result_scores
from rse_study.results.files.ledger import Ledger
from tests.analysis import searched, tabled

ROWS = {
    "norm = linf": (60.0, 61.0, 62.0, 63.0),
    "norm = l2": (59.0, 60.1, 61.0, 61.9),
    "norm = l1": (60.5, 60.0, 62.5, 62.0),
}


PRINTED = {"norm = linf": 77.90, "norm = l2": 76.84}


@pytest.fixture
def found(tmp_path, contents):
    return contents(tabled.make(tmp_path, ROWS, baseline="norm = linf", evaluations=("SICK-R/test",)))


def scored(found):
    """The scores of the objective alone."""
    frame = result_scores(found)
    return frame[frame["measure"] == found.label]


def test_the_papers_differences_stand_beside_ours(found):
    frame = differences_data(found, scored(found), printed=PRINTED).set_index("row")
    assert list(frame.index) == ["norm = l2", "norm = l1"]
    assert frame.loc["norm = l2", "difference"] == pytest.approx(-1.0)
    assert frame.loc["norm = l2", "paper"] == pytest.approx(76.84 - 77.90)
    assert math.isnan(frame.loc["norm = l1", "paper"])
    assert not draw_forest(columns_forest_data(())).data


def test_an_interval_without_0_is_full_and_below_3_seeds_there_is_none(found):
    frame = differences_data(found, scored(found))
    (trace,) = draw_forest(frame).data
    assert list(trace.marker.symbol) == ["circle", "circle-open"]
    few = scored(found)
    few = differences_data(found, few[few["seed"].isna() | (few["seed"] < 2)])
    assert few["difference"].tolist() == pytest.approx([-0.95, -0.25])
    assert few[["low", "high"]].isna().all(axis=None)


def test_without_a_baseline_rows_are_compared_with_the_start_if_it_was_measured(tmp_path, contents):
    folder = tabled.make(tmp_path, ROWS)
    assert differences_data(contents(folder), scored(contents(folder))).empty
    with Ledger.open(folder) as ledger:
        ledger.record_evaluations([searched.measure("start", "STS-B/dev", 60.0)])
    frame = differences_data(contents(folder), scored(contents(folder)))
    assert frame["minus"].unique().tolist() == ["before training"]
    assert frame["difference"].tolist() == pytest.approx([1.5, 0.5, 1.25])
