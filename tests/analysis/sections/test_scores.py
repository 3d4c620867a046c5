import pandas as pd

from analysis.scores import scores
from analysis.search import confirmed
from analysis.sections.scores import above_text, dots


def test_too_many_rows_make_no_figure_and_means_are_compared_with_baselines(grid_dir, contents, search_dir):
    grid = contents(grid_dir)
    frame = scores(grid, grid.stage("grid"))
    many = pd.concat([frame.assign(position=frame["position"] + 100 * n) for n in range(9)])
    assert "No figure" in dots(grid, many, "rows")
    found = contents(search_dir)
    frame = scores(found, confirmed(found))
    low = frame.assign(value=frame["value"].mask(frame["kind"] == "base", 39.0))
    assert "On builtin/test" in above_text(found, low)
    words = "1 of 2 than token overlap, 2 of 2 than untrained encoder, 1 of 2 than before"
    assert words in above_text(found, low)
    assert above_text(found, frame[frame["kind"] != "baseline"]) == ""
    assert above_text(found, frame[frame["kind"] == "baseline"]) == ""
