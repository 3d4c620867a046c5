"""Sums of what is not known yet."""

import random

import pytest

from rse_study.study.planning.estimates import Range, exactly, seen, sum_of_draws
from tests.cases import cases


def test_what_is_known_has_no_spread_and_chance_evens_out_over_many():
    assert sum_of_draws([exactly(3.0)] * 5, 7) == exactly(21.0)
    assert sum_of_draws([exactly(3.0)], 0) == exactly(0.0)
    values = [exactly(1.0), exactly(9.0)]
    few, many = sum_of_draws(values, 4), sum_of_draws(values, 400)
    assert (many.high - many.low) / many.mid < 0.2 * (few.high - few.low) / few.mid
    told = sum_of_draws([Range(1.0, 2.0, 4.0)], 10)
    assert told == Range(10.0, 20.0, 40.0)


@cases("num_draws", [1, 4, 32, 33, 400])
def test_four_sums_in_five_lie_between_low_and_high(num_draws):
    draw = random.Random(0)
    values = [draw.lognormvariate(0, 0.8) for _ in range(64)]
    told = sum_of_draws([exactly(value) for value in values], num_draws)
    sums = [sum(draw.choices(values, k=num_draws)) for _ in range(2000)]
    assert num_draws * min(values) <= told.low <= told.mid <= told.high <= num_draws * max(values)
    assert told.mid == pytest.approx(sum(sums) / 2000, rel=0.05)
    assert sum(told.low <= total <= told.high for total in sums) / 2000 == pytest.approx(0.8, abs=0.05)


def test_what_was_seen_is_told_by_its_tenths_and_what_is_expected_lies_within():
    told = seen([float(i) for i in range(21)], mid=7.0)
    assert told == Range(2.0, 7.0, 18.0)
    assert seen([5.0]) == exactly(5.0)
    # One cell in a hundred that takes for ever lifts the mean above nine in ten.
    assert seen([1.0] * 99 + [1000.0]) == Range(1.0, 10.99, 10.99)
    told = sum_of_draws([exactly(1.0)] * 99 + [exactly(1000.0)], 1)
    assert told == Range(1.0, 10.99, 10.99)
