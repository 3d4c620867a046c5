"""Differences whose interval is known beforehand, and how wide it is."""

import math

import numpy as np
from scipy import stats


def around(mean, n):
    """n values, none equal, whose mean is `mean` and whose SD is 1."""
    values = np.arange(n) - (n - 1) / 2
    return mean + values / values.std(ddof=1)


def half_width(n, num_contrasts=1):
    """Half the 95% t interval of n values with an SD of 1 that holds together with others, (Bonferroni)."""
    return float(stats.t.ppf(1 - 0.05 / (2 * num_contrasts), n - 1) / math.sqrt(n))
