import dataclasses

import pandas as pd
import pytest

from analysis.figures.diagnostics import ALL, BEST, diagnostics_data, draw_diagnostics


def test_what_training_reports_has_a_line_for_few_rows_each_and_one_for_many(search_dir, grid_dir, contents):
    assert set(contents(search_dir).diagnostics["name"]) == {"loss"}
    frame = diagnostics_data(contents(search_dir))
    assert set(frame["metric"]) == {"loss"}
    assert list(dict.fromkeys(frame["series"])) == [ALL, "paper setting", BEST]
    assert frame.loc[frame["series"] == ALL, "num_cells"].unique().tolist() == [6]
    assert frame.loc[(frame["series"] == BEST) & (frame["t"] == 15), "mean"].tolist() == [pytest.approx(0.2)]
    found = contents(grid_dir)
    few = dataclasses.replace(found, cells=found.cells[found.cells["trial"] < 3])
    assert diagnostics_data(few)["series"].nunique() == 3
    assert set(diagnostics_data(found)["series"]) == {ALL, "paper setting"}


def test_a_band_holds_the_middle_of_several_cells():
    columns = ["metric", "series", "t", "mean", "low", "high", "num_cells"]
    frame = pd.DataFrame(
        [
            ("loss", "a", 1, 2.0, 1.0, 3.0, 4),
            ("loss", "b", 1, 5.0, 5.0, 5.0, 1),
            ("lr", "a", 1, 1.0, 1.0, 1.0, 4),
        ],
        columns=columns,
    )
    figure = draw_diagnostics(frame, "loss")
    expected = [("toself", "a"), (None, "a"), (None, "b")]
    assert [(trace.fill, trace.legendgroup) for trace in figure.data] == expected
    assert list(figure.data[0].y) == [3.0, 1.0]
