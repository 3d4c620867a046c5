"""Fronts and volumes against their definitions, by enumeration and by Monte Carlo."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from rse_study.search.front import front, hypervolume, knee, nadir, oriented, representatives, scaled

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
