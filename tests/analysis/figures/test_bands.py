import pandas as pd
import pytest

from analysis.figures.curves import bands_data, draw_bands

ROWS = [("a1", "full", 1), ("a2", "full", 2), ("b1", "without", 1), ("b2", "without", 2)]
STATUS = ["complete", "complete", "complete", "failed"]
CELLS = pd.DataFrame(ROWS, columns=["identity", "name", "seed"]).assign(status=STATUS)
SEEN = [("a1", 10, 1.0), ("a1", 20, 3.0), ("a2", 10, 3.0), ("a1", 30, 4.0), ("b1", 10, 5.0), ("b2", 10, 9.0)]
POINTS = pd.DataFrame([*SEEN, ("a2", 30, float("inf"))], columns=["cell", "t", "value"])


def test_means_are_of_steps_that_all_seeds_have():
    frame = bands_data(CELLS, POINTS)
    assert frame["row"].tolist() == ["full", "full", "full", "full", "without"]
    first = frame[(frame["row"] == "full") & (frame["t"] == 10)].iloc[0]
    assert (first["mean"], first["num_seeds"]) == (2.0, 2)
    assert first["high"] - first["mean"] == pytest.approx(2**0.5)
    assert frame.loc[frame["t"] > 10, "mean"].isna().all()
    assert frame.loc[frame["row"] == "without", "mean"].tolist() == [5.0]


def test_few_rows_have_colours_a_band_and_their_seeds_and_of_many_one_is_chosen():
    figure = draw_bands(bands_data(CELLS, POINTS), "dev")
    assert [trace.legendgroup for trace in figure.data] == ["full", "full", "full", "without"]
    assert figure.data[0].fill == "toself"
    assert [trace.name for trace in figure.data if trace.showlegend is not False] == ["full", "without"]
    assert figure.data[2].line.color != figure.data[3].line.color
    assert not figure.layout.updatemenus
    parts = [bands_data(CELLS, POINTS).assign(row=f"row {number}") for number in range(9)]
    figure = draw_bands(pd.concat(parts), "dev")
    (menu,) = figure.layout.updatemenus
    assert len(menu.buttons) == 9
    assert figure.data[0].name == "means of all rows"
    assert {trace.legendgroup for trace in figure.data[1:] if trace.visible} == {"row 0"}
    assert sum(menu.buttons[8].args[0]["visible"]) == 1 + sum(t.legendgroup == "row 8" for t in figure.data)
