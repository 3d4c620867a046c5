import pandas as pd
import pytest

from analysis.figures.pareto import draw_pareto, front, pareto_data


def test_a_row_has_the_mean_of_its_seeds_and_the_front_is_what_nothing_beats_in_both(grid_dir, contents):
    frame = pareto_data(contents(grid_dir)).set_index("row")
    assert frame.loc["lambda1 = 0.125", ["objective", "seconds", "num_cells"]].tolist() == [64.0, 40.0, 3]
    assert frame.loc["without the token level", "num_cells"] == 1
    assert frame.loc["base", "is_base"]
    costs, scores = pd.Series([1.0, 2.0, 3.0, 3.0, 1.0]), pd.Series([5.0, 4.0, 6.0, 7.0, 3.0])
    assert front(costs, scores).tolist() == [True, False, False, True, False]
    assert front(costs, scores, is_less_better=True).tolist() == [False, False, False, False, True]
    assert front(costs[:0], scores[:0]).empty


def test_time_and_steps_are_chosen_and_stopped_trials_are_not_on_the_line(search_dir, contents):
    frame = pareto_data(contents(search_dir))
    assert set(frame["status"]) == {"complete", "stopped_early"}
    figure = draw_pareto(frame, "dev")
    (menu,) = figure.layout.updatemenus
    expected = ["training seconds of a cell", "optimiser steps of a cell"]
    assert [button.label for button in menu.buttons] == expected
    shown = [trace for trace in figure.data if trace.visible]
    assert {trace.meta for trace in shown} == {"seconds"}
    line = next(trace for trace in shown if trace.name == "Pareto front")
    best = frame[frame["row"] == "trial 12"].iloc[0]
    assert line.y[-1] == pytest.approx(best["objective"])
    assert len([trace for trace in figure.data if trace.name == "stopped early"]) == 2
