import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rse_study.search.choice import TrialResult, chosen_first, front_of, trials_to_confirm
from rse_study.search.front import front, hypervolume, knee, nadir, oriented, representatives, scaled
from tests.cases import cases

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


# Step and value of each trial's end; trial 0 is the baseline.
ENDS = ((60, 57.0), (60, 55.0), (15, 90.0), (60, 56.0), (30, 91.0), (60, math.nan), (60, 56.0))
STANDINGS = [TrialResult(number, t, (value,)) for number, (t, value) in enumerate(ENDS)]


@cases(
    ("num_best", "direction", "expected"),
    [
        (1, "maximize", [3]),
        (2, "maximize", [3, 6]),
        (4, "maximize", [3, 6, 1, 4]),
        (9, "maximize", [3, 6, 1, 4, 2]),
        (1, "minimize", [1]),
    ],
)
def test_full_budgets_come_first_then_values(num_best, direction, expected):
    assert trials_to_confirm(STANDINGS, [0], num_best, [direction]) == expected


def test_of_several_objectives_the_knee_comes_first_and_the_baseline_takes_no_place():
    values = ((9.0, 9.0), (8.0, 1.0), (6.0, 6.0), (1.0, 8.0))
    standings = [TrialResult(number, 60, value) for number, value in enumerate(values)]
    assert trials_to_confirm(standings, [0], 1, ["maximize", "maximize"]) == [2]
    assert trials_to_confirm(standings, [], 1, ["maximize", "maximize"]) == [0]
    assert trials_to_confirm(STANDINGS[:1], [0], 1, ["maximize"]) == []


# Fronts and volumes against their definitions, by enumeration and by Monte Carlo.


POINTS = st.integers(2, 3).flatmap(
    lambda width: arrays(
        float, st.tuples(st.integers(1, 12), st.just(width)), elements=st.integers(0, 6).map(float)
    )
)


@given(POINTS)
def test_a_point_is_on_the_front_where_no_other_dominates_it(points):
    for point, kept in zip(points, front(points), strict=True):
        beaten = any(all(other >= point) and any(other > point) for other in points)
        assert kept != beaten


@given(POINTS)
def test_the_volume_is_the_number_of_unit_cubes_below_some_point(points):
    """Whole coordinates: the volume above 0 is counted cube by cube."""
    corners = np.stack(np.meshgrid(*[np.arange(6)] * points.shape[1], indexing="ij"), axis=-1).reshape(
        -1, points.shape[1]
    )
    covered = [(points >= corner + 1).all(axis=1).any() for corner in corners]
    assert hypervolume(points, np.zeros(points.shape[1])) == pytest.approx(sum(covered))


@given(POINTS)
def test_representatives_are_distinct_and_begin_with_the_knee(points):
    members = points[front(points)]
    chosen = representatives(members, len(members))
    assert sorted(chosen) == list(range(len(members)))
    assert chosen[0] == knee(members)


def test_what_has_no_value_beats_nobody_and_what_is_minimised_is_turned_round():
    points = np.array([[np.nan, 9.0], [1.0, 1.0], [np.inf, 0.0]])
    assert front(points).tolist() == [False, True, False]
    assert nadir(points).tolist() == [1.0, 1.0]
    assert oriented([(3.0, 2.0), (1.0, 5.0)], ["maximize", "minimize"]).tolist() == [[3, -2], [1, -5]]
    assert oriented([], ["maximize", "minimize"]).shape == (0, 2)
    assert scaled(np.array([[1.0, 2.0], [1.0, 4.0]])).tolist() == [[0, 0], [0, 1]]
    assert hypervolume(np.array([[1.0, 1.0], [-1.0, 5.0]]), [0.0, 0.0]) == 1.0
    assert hypervolume(np.empty((0, 2)), [0.0, 0.0]) == 0.0


def test_the_knee_is_where_the_front_bends():
    members = np.array([[0.0, 10.0], [8.0, 7.0], [9.0, 5.0], [10.0, 0.0]])
    assert knee(members) == 1  # 0.8 + 0.7 against 0.9 + 0.5
    assert representatives(members, 3) == [1, 2, 0]
