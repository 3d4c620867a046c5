import math

import pandas as pd

from analysis.figures.dots import dots_data, draw_dots
from analysis.figures.style import label_text

SCORES = pd.DataFrame(
    [
        (0, "untrained", "baseline", pd.NA, "test", 10.0),
        (3, "full", "row", 1, "test", 50.0),
        (3, "full", "row", 2, "test", 53.0),
        (4, "without <b>", "row", 1, "test", 40.0),
        (4, "without <b>", "row", 2, "test", math.nan),
        (5, "failed", "row", 1, "test", math.nan),
        (3, "full", "row", 1, "dev", 99.0),
    ],
    columns=["position", "row", "kind", "seed", "measure", "value"],
).assign(degenerate=False)


def test_every_value_is_there_with_its_rows_mean_and_names_are_short_lines_of_plain_text():
    frame = dots_data(SCORES, "test")
    assert frame[["position", "value", "mean"]].values.tolist() == [
        [0, 10.0, 10.0], [3, 50.0, 51.5], [3, 53.0, 51.5], [4, 40.0, 40.0],
    ]  # fmt: skip
    assert label_text("without the weakening masks", 16) == "without the<br>weakening masks"
    assert label_text("<i>") == "&lt;i&gt;"


def test_a_trace_per_seed_the_first_row_on_top_and_no_row_without_a_value():
    figure = draw_dots(dots_data(SCORES, "test"), "test")
    traces = {trace.name: trace for trace in figure.data}
    assert list(traces) == ["baseline", "seed 1", "seed 2", "mean"]
    assert (list(traces["seed 1"].x), list(traces["seed 1"].y)) == ([50.0, 40.0], [1, 2])
    assert (list(traces["mean"].x), list(traces["mean"].y)) == ([51.5, 40.0], [1, 2])
    axis = figure.layout.yaxis
    assert axis.range[0] > axis.range[1]
    assert axis.ticktext == ("untrained", "full", "without &lt;b&gt;")
    assert traces["seed 1"].marker.symbol != traces["seed 2"].marker.symbol


def test_no_two_of_thirty_seeds_look_alike_and_a_longer_legend_takes_no_room_from_the_rows():
    rows = [(0, "full", "row", seed, "test", 50.0 + seed) for seed in range(30)]
    scores = pd.DataFrame(rows, columns=SCORES.columns[:-1]).assign(degenerate=False)
    seeds = [trace for trace in draw_dots(dots_data(scores, "test"), "test").data if "seed" in trace.name]
    assert len({(trace.marker.color, trace.marker.symbol) for trace in seeds}) == 30
    rows = [(0, "full", "row", seed, "test", 50.0 + seed) for seed in range(8)]
    scores = pd.DataFrame(rows, columns=SCORES.columns[:-1]).assign(degenerate=False)
    few, many = (draw_dots(dots_data(part, "test"), "test") for part in (scores[:2], scores))
    assert many.layout.height - few.layout.height == 60
