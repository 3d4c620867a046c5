"""Successive halving, against the rule said in another way and an example of its paper."""

from hypothesis import given
from hypothesis import strategies as st

from rse_study.search.stopping import Asha
from tests.cases import cases
from tests.search.stopping.waiting import VALUES, waiting


def said(value, others, factor, direction="maximize"):
    return Asha(first=1, factor=factor).verdict(waiting(value, {1: others}, direction=direction))


@cases(
    ("first", "factor", "num_steps", "expected"),
    [(15, 2, 60, (15, 30)), (15, 2, 61, (15, 30, 60)), (10, 3, 10, ()), (1, 3, 28, (1, 3, 9, 27))],
)
def test_rungs_are_geometric_and_below_the_full_budget(first, factor, num_steps, expected):
    assert Asha(first=first, factor=factor).rungs(num_steps) == expected


def by_sorting(value, others, factor):
    """The rule again, in another way: the cut-off is the k-th best value."""
    everybody = sorted([value, *others], reverse=True)
    return "continue" if value >= everybody[max(1, len(everybody) // factor) - 1] else "stop"


@given(values=VALUES, factor=st.integers(2, 5))
def test_the_best_share_goes_on(values, factor):
    value, *others = values
    assert said(value, others, factor) == by_sorting(value, others, factor)


@given(values=VALUES, factor=st.integers(2, 5))
def test_minimising_is_maximising_the_negative(values, factor):
    value, *others = values
    mirrored = said(-value, [-other for other in others], factor, "minimize")
    assert mirrored == said(value, others, factor)


def test_a_synchronous_rung_halves_nine_trials_to_three():
    """Li et al. 2020, figure 1, bracket 0: of nine configurations with eta = 3, three are promoted."""
    values = [0.1, 0.9, 0.4, 0.3, 0.8, 0.2, 0.7, 0.6, 0.5]
    verdicts = [said(value, [other for other in values if other != value], 3) for value in values]
    expected = [0.9, 0.8, 0.7]
    assert [value for value, one in zip(values, verdicts, strict=True) if one == "continue"] == expected
