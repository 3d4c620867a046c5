"""The median rule, against its formula by hand and by slow loops."""

import math
from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.search.stopping import Median
from tests.search.stopping.waiting import DIRECTIONS, waiting

COURSES = st.lists(st.lists(st.floats(-100, 100), min_size=3, max_size=3), min_size=1, max_size=12)


def test_rungs_are_apart_by_steps_or_by_a_factor():
    assert Median(first=10, every=15).rungs(60) == (10, 25, 40, 55)
    assert Median(first=10, factor=2).rungs(60) == (10, 20, 40)
    assert Median(first=60, every=5).rungs(60) == ()


def test_the_papers_formula_by_hand():
    """Three others with the courses (1, 5), (2, 4), (6, 8): averages 3, 3, 7, their median 3."""
    rule = Median(first=10, every=10, num_startup=3)
    values = {10: [1.0, 2.0, 6.0], 20: [5.0, 4.0, 8.0]}

    def said(before, now):
        at_10 = dict(enumerate(values[10])) | {9: before}
        return rule.verdict(waiting(now, {10: at_10, 20: values[20]}, trial=9))

    assert said(0.0, 2.9) == "stop"
    assert said(0.0, 3.0) == "continue"  # strictly worse, the paper says
    assert said(3.5, 0.0) == "continue"  # its best so far counts, and not where it stands
    assert said(2.9, 2.9) == "stop"


def test_who_has_not_got_there_or_lost_a_value_does_not_count_and_who_was_stopped_does():
    rule = Median(first=10, every=10, num_startup=1)
    ahead = {10: [50.0, 60.0, 70.0], 20: [50.0]}  # trials 1 and 2 were stopped at step 10, or still run
    assert rule.verdict(waiting(50.0, ahead)) == "continue"
    assert rule.verdict(waiting(50.0, {10: ahead[10]})) == "stop"
    assert rule.verdict(waiting(8.0, {10: [math.nan], 20: [8.0]})) == "continue"
    assert rule.verdict(waiting(7.9, {10: [math.nan], 20: [8.0]})) == "stop"
    assert (
        rule.verdict(waiting(0.0, {10: [8.0], 20: [math.nan]})) == "continue"
    )  # nobody else has a value there


@pytest.mark.parametrize("num_startup", [1, 3])
def test_before_there_are_enough_others_everything_goes_on(num_startup):
    rule = Median(first=1, every=1, num_startup=num_startup)
    assert rule.verdict(waiting(0.0, {1: [9.0] * (num_startup - 1)})) == "continue"
    assert rule.verdict(waiting(0.0, {1: [9.0] * num_startup})) == "stop"


@given(courses=COURSES, direction=DIRECTIONS)
def test_it_is_what_slow_loops_say(courses, direction):
    rule = Median(first=1, every=1, num_startup=2)
    own, *others = courses
    values = {t: [course[t - 1] for course in others] for t in (1, 2, 3)}
    own_before = {t: dict(enumerate(values[t])) | {99: own[t - 1]} for t in (1, 2)}
    said = rule.verdict(waiting(own[2], own_before | {3: values[3]}, trial=99, direction=direction))
    if len(others) < 2:
        assert said == "continue"
        return
    bound = median([sum(course) / 3 for course in others])
    is_worse = max(own) < bound if direction == "maximize" else min(own) > bound
    close = min(abs(value - bound) for value in own) < 1e-9
    assert close or said == ("stop" if is_worse else "continue")
