"""Uncertain numbers, as ranges of what they may turn out to be."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist, fmean, pstdev

SHARE = 0.1  # of all cases below `low`, and as many above `high`
FEW, NUM_TRIES = 32, 500
_WIDTH = NormalDist().inv_cdf(1 - SHARE)


@dataclass(frozen=True)
class Range:
    """An uncertain number."""

    low: float
    """about one case in ten lies below"""
    mid: float
    """expected"""
    high: float
    """about one case in ten lies above"""

    def __add__(self, other: "Range") -> "Range":
        return Range(self.low + other.low, self.mid + other.mid, self.high + other.high)

    def __mul__(self, other: "Range") -> "Range":
        """Multiply low by low and high by high: what makes one cell expensive makes all expensive."""
        return Range(self.low * other.low, self.mid * other.mid, self.high * other.high)

    def times(self, factor: int | float) -> "Range":
        """Return the sum of `factor` equal numbers."""
        return Range(self.low * factor, self.mid * factor, self.high * factor)


def exactly(value: int | float) -> Range:
    """Return a known number as a range."""
    return Range(float(value), float(value), float(value))


NOTHING = exactly(0.0)


def seen(values: Sequence[float], mid: float | None = None) -> Range:
    """Return the range of measured values: a tenth below `low`, a tenth above `high`."""
    ordered = sorted(values)
    first = round(SHARE * (len(ordered) - 1))
    return _around(ordered[first], fmean(ordered) if mid is None else mid, ordered[-1 - first])


def _around(low: float, mid: float, high: float) -> Range:
    """Return a range around its mean, which a few large values may lift above `high`."""
    return Range(min(low, mid), mid, max(mid, high))


def sum_of_draws(ranges: Sequence[Range], num_draws: int) -> Range:
    """Return the range of a sum of `num_draws` draws, in which chance evens out."""
    if num_draws == 0:
        return NOTHING
    low, _ = _tails([r.low for r in ranges], num_draws)
    _, high = _tails([r.high for r in ranges], num_draws)
    return _around(low, num_draws * fmean(r.mid for r in ranges), high)


def _tails(values: Sequence[float], num_draws: int) -> tuple[float, float]:
    """Return the 10% and 90% quantiles of the sum: simulated for few draws, normal for many."""
    if num_draws <= FEW:
        draw = random.Random(0)
        sums = sorted(sum(draw.choices(values, k=num_draws)) for _ in range(NUM_TRIES))
        tail = round(SHARE * NUM_TRIES)
        return sums[tail], sums[-1 - tail]
    mean, spread = num_draws * fmean(values), _WIDTH * sqrt(num_draws) * pstdev(values)
    return mean - spread, mean + spread
