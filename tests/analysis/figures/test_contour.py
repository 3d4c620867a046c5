import numpy as np
import pandas as pd
import pytest

from analysis.figures.contour import MAX_POINTS, contour_data, draw_contour, surface
from analysis.figures.rulers import positions_data, rulers_of
from analysis.search import trials


@pytest.fixture
def space(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    rulers = rulers_of(table, found.study.axes, found.study.headings)
    return positions_data(table, rulers), rulers


def test_there_is_a_map_for_each_pair_without_a_nan_and_with_dots_for_some_of_many_trials(space):
    positions, rulers = space
    frame = contour_data(positions, ["rho", "phi"])
    pairs = list(dict.fromkeys(zip(frame["x_axis"], frame["y_axis"], strict=True)))
    assert len(pairs) == 28
    assert pairs[0] == ("rho", "phi")
    figure = draw_contour(frame, rulers, "dev")
    assert [trace.visible for trace in figure.data] == [True, True, *[False] * 54]
    (menu,) = figure.layout.updatemenus
    assert menu.buttons[0].label == "rho and phi"
    last = menu.buttons[-1].args[0]["visible"]
    assert last == [False] * 54 + [True, True]
    assert menu.buttons[-1].args[1]["yaxis.title.text"] == pairs[-1][1]
    figure = draw_contour(contour_data(positions), rulers, "dev")
    maps = [trace for trace in figure.data if trace.type == "heatmap"]
    values = [value for trace in maps for line in trace.z for value in line]
    assert None in values
    assert all(value is None or value == value for value in values)
    two = positions[positions["axis"].isin(["rho", "phi"])]
    parts = [two.assign(trial=two["trial"] + 100 * n, best=two["best"] & (n == 3)) for n in range(100)]
    frame = contour_data(pd.concat(parts))
    dots = draw_contour(frame, rulers, "dev").data[1]
    assert len(dots.x) <= MAX_POINTS + 1
    assert list(dots.marker.size).count(13) == 1


def test_nothing_is_drawn_where_nobody_looked_neighbours_are_averaged_and_lines_make_no_map():
    x, y = np.array([0.0, 0.5, 0.0, 0.5]), np.array([0.0, 0.0, 0.5, 0.5])
    field = surface(x, y, np.array([1.0, 2.0, 3.0, 4.0]))
    assert field is not None
    assert field[0, 0] == 1.0
    assert field[12, 12] == 4.0
    assert np.isnan(field[13:, :]).all()
    assert np.isnan(field[:, 13:]).all()
    x, y = np.array([0.0, 0.01, 1.0, 0.0, 1.0]), np.array([0.0, 0.01, 0.0, 1.0, 1.0])
    field = surface(x, y, np.array([0.0, 2.0, 1.0, 1.0, 1.0]))
    assert field is not None
    assert np.nanmax(field) == pytest.approx(1.0)
    at = np.linspace(0, 1, 6)
    assert surface(at, at, at) is None
    assert surface(at[:2], at[:2], at[:2]) is None
    assert surface(at[:0], at[:0], at[:0]) is None
