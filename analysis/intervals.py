"""Confidence intervals of proportions."""

from scipy.stats import binomtest

from rse_study.results.statistics import Interval


def share_interval(num: int, of: int, level: float = 0.95) -> Interval:
    """Return Wilson's score interval (1927), which has a width even if all agree."""
    found = binomtest(num, of).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high))
