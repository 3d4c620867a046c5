from analysis.figures.importance import draw_importance, importance_data


def test_the_most_important_axis_is_on_top(search_dir, contents):
    frame = importance_data(contents(search_dir))
    assert len(frame) == 16
    assert frame["axis"].iloc[0] == "rho"  # 5/36 and 8/36
    assert frame["mean"].is_monotonic_decreasing
    figure = draw_importance(frame)
    assert [trace.name for trace in figure.data] == ["fanova", "mdi"]
    assert figure.layout.yaxis.categoryarray[-1] == "rho"  # plotly counts from below
    assert all(len(trace.x) == 8 for trace in figure.data)
