"""Intervals of shares."""

from scipy.stats import binomtest

from rse_study.results.statistics import Interval


def share_interval(num: int, of: int, level: float = 0.95) -> Interval:
    """Of the share num / of, of >= 1, by Wilson's score (1927): within 0 and 1, and no point where all agree."""
    found = binomtest(num, of).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high))
