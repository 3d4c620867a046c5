import math

from rse_study.search.choice import TrialResult, chosen_first, front_of

UP, DOWN = "maximize", "minimize"


def test_a_trial_that_breaks_a_constraint_is_never_chosen_nor_anything_of_nothing():
    trials = [
        TrialResult("a", 60, (9.0,), is_feasible=False),
        TrialResult("b", 60, (1.0,)),
        TrialResult("c", 15, (5.0,)),
    ]
    assert chosen_first(trials, [UP]) == ["b", "c"]
    assert chosen_first([], [UP, DOWN]) == chosen_first([], [UP]) == front_of([], [UP, DOWN]) == []


def test_of_several_objectives_fronts_come_one_after_the_other():
    trials = [
        TrialResult("dear", 60, (9.0, 9.0)),
        TrialResult("cheap", 60, (1.0, 1.0)),
        TrialResult("knee", 60, (8.0, 2.0)),
        TrialResult("beaten", 60, (7.0, 3.0)),
        TrialResult("broken", 60, (9.5, 0.5), is_feasible=False),
        TrialResult("short", 30, (9.5, 0.5)),
        TrialResult("unscored", 60, (9.9, math.nan)),
    ]
    assert chosen_first(trials, [UP, DOWN]) == ["knee", "dear", "cheap", "beaten", "short"]
    assert [one.key for one in front_of(trials, [UP, DOWN])] == ["dear", "cheap", "knee"]
