import numpy as np
import pandas as pd
from numpy.testing import assert_array_equal

from analysis.figures.diagnostics import MOST_ROWS, diagnostics_data, draw_diagnostics


def test_each_row_has_its_own_lines_and_no_row_is_mixed_with_another(grid_dir, search_dir, contents):
    found = contents(grid_dir)
    frame = diagnostics_data(found)
    complete = found.stage("grid")[lambda cells: cells["status"] == "complete"]
    assert frame["row"].nunique() == complete["trial"].nunique() <= MOST_ROWS
    assert (frame.groupby("cell")["row"].nunique() == 1).all()
    search = diagnostics_data(contents(search_dir))
    assert set(search["row"]) == {"base", "trial 12"}
    assert set(search["metric"]) == {"loss"}


def test_a_panel_for_each_metric_with_a_line_for_each_cell():
    rows = [("row", cell, metric, t, 1.0) for metric in ("loss", "new") for cell in "ab" for t in (1, 2)]
    figure = draw_diagnostics(pd.DataFrame(rows, columns=["row", "cell", "metric", "t", "value"]))
    assert [trace.xaxis for trace in figure.data] == ["x", "x2"]
    assert_array_equal(figure.data[0].x, [1, 2, np.nan, 1, 2, np.nan])
    assert [title.text for title in figure.layout.annotations] == ["the whole loss", "new"]
