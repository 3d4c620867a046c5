import numpy as np
import pandas as pd
import pytest

from analysis.figures.search_features import draw_importance, importance_data, not_told_apart


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
