import math

import pytest

from analysis.figures.rulers import Ruler, positions_data, ruler_of, rulers_of
from analysis.search import trials
from tests.analysis import searched


def test_logarithmic_axes_stand_by_their_exponents_and_ticks_are_few_and_round():
    ruler = Ruler("alpha", 1e-6, 1e-2, is_log=True)
    assert [ruler.position(value) for value in (1e-6, 1e-4, 1e-2)] == pytest.approx([0, 0.5, 1])
    assert math.isnan(ruler.position(0.0))
    assert math.isnan(ruler.position(None))
    assert [text for _, text in ruler.ticks()] == ["1e-06", "1e-05", "0.0001", "0.001", "0.01"]
    assert [text for _, text in Ruler("N", 1, 16, is_whole=True).ticks()] == ["5", "10", "15"]
    assert len(Ruler("x", 0.0, 0.37).ticks()) <= 6
    assert len(Ruler("x", choices=tuple(f"choice {n}" for n in range(23))).ticks()) <= 5
    assert [text for _, text in Ruler("x", 0.2, 0.4, is_log=True).ticks()] == ["0.2", "0.4"]


def test_choices_keep_their_order_and_what_was_tried_beyond_the_range_has_a_place():
    axis = next(axis for axis in searched.AXES if axis.kind == "choice")
    ruler = ruler_of(axis, "norm", ["linf", "l1", "none"])
    assert ruler.choices == ("l1", "l2", "linf", "none")
    assert ruler.position("l2") == pytest.approx(1 / 3)
    assert Ruler("x", choices=("only",)).position("only") == 0.5
    axis = next(axis for axis in searched.AXES if axis.name == "phi")
    assert ruler_of(axis, "phi", [0.1, 0.6]).high == 0.6
    assert ruler_of(axis, "phi", []).high == 0.3


def test_positions_are_those_of_complete_trials(search_dir, contents):
    found = contents(search_dir)
    table = trials(found)
    frame = positions_data(table, rulers_of(table, found.study.axes, found.study.headings))
    complete = table.loc[table["status"] == "complete", "trial"]
    assert sorted(set(frame["trial"])) == sorted(complete)
    assert len(frame) == 8 * len(complete)
    assert frame["position"].between(0, 1).all()
    base = frame[frame["is_base"] & (frame["axis"] == "N")].iloc[0]
    assert (base["value"], base["text"], base["position"]) == (5, "5", pytest.approx(4 / 15))
    assert positions_data(table.iloc[:0], []).empty
