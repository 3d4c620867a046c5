import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rse_study.study.definition.config import Asha
from rse_study.study.early_stopping import rungs_of, verdict

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("first", "factor", "num_steps", "expected"),
    [(15, 2, 60, (15, 30)), (15, 2, 61, (15, 30, 60)), (10, 3, 10, ()), (1, 3, 28, (1, 3, 9, 27))],
)
def test_rungs_are_geometric_and_below_the_full_budget(first, factor, num_steps, expected):
    assert rungs_of(Asha(first=first, factor=factor), num_steps) == expected


def test_without_early_stopping_there_are_no_rungs():
    assert rungs_of(None, 60) == ()


def by_sorting(value, others, factor):
    """The rule again, in another way: the cut-off is the k-th best value."""
    everybody = sorted([value, *others], reverse=True)
    return "continue" if value >= everybody[max(1, len(everybody) // factor) - 1] else "stop"


@given(values=VALUES, factor=st.integers(2, 5))
def test_the_best_share_goes_on(values, factor):
    value, *others = values
    assert verdict(value, others, factor, "maximize") == by_sorting(value, others, factor)


@given(values=VALUES, factor=st.integers(2, 5))
def test_minimising_is_maximising_the_negative(values, factor):
    value, *others = values
    mirrored = verdict(-value, [-other for other in others], factor, "minimize")
    assert mirrored == verdict(value, others, factor, "maximize")


@given(values=VALUES, factor=st.integers(2, 5), shuffled=st.randoms())
def test_the_order_of_arrival_of_the_others_does_not_matter(values, factor, shuffled):
    value, *others = values
    mixed = shuffled.sample(others, len(others))
    assert verdict(value, mixed, factor, "maximize") == verdict(value, others, factor, "maximize")


def test_the_first_one_goes_on_and_a_lost_value_never_does():
    assert verdict(-5.0, [], 3, "maximize") == "continue"
    assert verdict(math.nan, [], 3, "maximize") == "stop"
    assert verdict(1.0, [math.nan, math.nan], 3, "maximize") == "continue"
