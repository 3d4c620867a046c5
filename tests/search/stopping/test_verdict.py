"""What holds of every rule: who is never stopped, who always is, and that the order of the others does not matter."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.search import stopping
from rse_study.search.stopping import Asha, Hyperband, Median
from tests.search.stopping.waiting import DIRECTIONS, VALUES, waiting

EXAMPLES = [
    Asha(first=1, factor=3),
    Median(first=1, every=1, num_startup=1),
    Hyperband(first=1, factor=2),
]
EVERY_RULE = pytest.mark.parametrize("rule", EXAMPLES, ids=lambda rule: rule.name)


@EVERY_RULE
def test_the_first_one_goes_on_and_so_does_the_first_that_has_a_value(rule):
    for direction in ("maximize", "minimize"):
        assert rule.verdict(waiting(-5.0, {1: []}, direction=direction)) == "continue"
        assert rule.verdict(waiting(-5.0, {1: [math.nan, math.inf]}, direction=direction)) == "continue"


@EVERY_RULE
@pytest.mark.parametrize("lost", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_lost_never_goes_on(rule, lost):
    assert rule.verdict(waiting(lost, {1: []})) == "stop"


@EVERY_RULE
@given(values=VALUES, direction=DIRECTIONS, shuffled=st.randoms(), trial=st.integers(0, 60))
def test_the_order_of_arrival_of_the_others_does_not_matter(rule, values, direction, shuffled, trial):
    numbered = {n: value for n, value in enumerate(values) if n != trial}
    mixed = dict(shuffled.sample(list(numbered.items()), len(numbered)))
    said = [
        rule.verdict(waiting(values[0], {1: one}, trial=trial, rungs=(1, 2, 4), direction=direction))
        for one in (numbered, mixed)
    ]
    assert said[0] == said[1]


@EVERY_RULE
@given(value=st.floats(-100, 100), num=st.integers(0, 30), direction=DIRECTIONS)
def test_a_tie_goes_on(rule, value, num, direction):
    assert rule.verdict(waiting(value, {1: [value] * num}, direction=direction)) == "continue"


@EVERY_RULE
@given(values=VALUES, trial=st.integers(0, 60))
def test_minimising_is_maximising_the_negative(rule, values, trial):
    value, *others = values
    more = waiting(value, {1: others}, trial=trial, rungs=(1, 2, 4))
    less = waiting(-value, {1: [-v for v in others]}, trial=trial, rungs=(1, 2, 4), direction="minimize")
    assert rule.verdict(more) == rule.verdict(less)


@EVERY_RULE
@given(values=VALUES, better=st.floats(0, 50), trial=st.integers(0, 60))
def test_who_is_better_is_never_stopped_instead(rule, values, better, trial):
    value, *others = values
    said = [
        rule.verdict(waiting(one, {1: others}, trial=trial, rungs=(1, 2, 4)))
        for one in (value, value + better)
    ]
    assert said != ["continue", "stop"]


def test_every_rule_with_a_name_is_tested_here():
    tried, known = {type(rule) for rule in EXAMPLES}, set(stopping.RULES.values())
    assert tried == known, (
        f"give {known - tried} an example in EXAMPLES: it goes through the tests of this file"
    )
