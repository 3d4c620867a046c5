"""Intervals of shares."""

from scipy.stats import binomtest

from rse_study.results.statistics import Interval


def share_interval(num: int, of: int, level: float = 0.95) -> Interval:
    """Return the interval of a share by Wilson's score (1927).

    Within 0 and 1, and no point where all agree.

    Parameters
    ----------
    num
        How many of them.
    of
        How many in all, >= 1.
    level
        Of the interval.
    """
    found = binomtest(num, of).proportion_ci(level, method="wilson")
    return Interval(float(found.low), float(found.high))
