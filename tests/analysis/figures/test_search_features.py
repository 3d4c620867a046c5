import numpy as np
import pandas as pd
import pytest

from analysis.figures.search_features import (
    draw_importance,
    draw_path,
    importance_data,
    not_told_apart,
    path_data,
)
from tests.analysis import searched


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
