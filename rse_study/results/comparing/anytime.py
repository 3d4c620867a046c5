"""E-values and confidence sequences: intervals that hold however often one looks.

A t interval holds for a number of seeds that was fixed beforehand. Whoever adds seeds until it excludes 0 is wrong more
often than it says. The confidence sequence below holds for all numbers of seeds at once.
"""

from itertools import count

import numpy as np
from numpy.typing import ArrayLike

from rse_study.results.statistics import Interval, are_equal, check_level, sample_of, standard_error

PRIOR_VARIANCE = 1.0
"""Variance g of the standardised effect. Effects of one standard deviation or more are found with the fewest seeds."""
EVERYTHING = Interval(-float("inf"), float("inf"))


def e_value(differences: ArrayLike, g: float = PRIOR_VARIANCE) -> float:
    """Return the evidence against a mean of 0: in the long run at most 1 if it is 0.

    P(E >= 1/a after any number of differences) <= a for independent normal differences of mean 0 and unknown
    variance: a normal mixture over the standardised effect, with the right-Haar prior on the standard deviation
    (Hendriksen, de Heide and Grünwald 2021; Pérez-Ortiz et al. 2022; Wang and Ramdas 2023). One difference gives 1.
    Equal differences give what t tends to, (1 + n g)^((n - 1) / 2); where all are 0, they give the least value.
    """
    sample = sample_of(differences, 1)
    n, grown = sample.size, 1 + sample.size * g
    if n == 1:
        return 1.0
    if are_equal(sample):
        return float(grown ** (-0.5 if sample[0] == 0 else (n - 1) / 2))
    x = (float(sample.mean()) / standard_error(sample)) ** 2 / (n - 1)
    log_ratio = np.log1p(x) - np.log1p(x / grown)
    return float(np.exp(n / 2 * log_ratio - np.log(grown) / 2))


def confidence_sequence(differences: ArrayLike, level: float = 0.95, g: float = PRIOR_VARIANCE) -> Interval:
    """Return the interval of the mean that holds after every number of differences.

    It has every mean against which the differences have an e-value below 1 / (1 - `level`), and is the whole line
    where so few differences can exclude nothing. Intervals of fewer differences are not intersected with it, so that it
    depends on the differences alone and not on their order.
    """
    check_level(level)
    sample = sample_of(differences, 1)
    n, grown = sample.size, 1 + sample.size * g
    ratio = (grown**0.5 / (1 - level)) ** (2 / n)
    if ratio >= grown:
        return EVERYTHING
    middle = float(sample.mean())
    if are_equal(sample):
        return Interval(middle, middle)
    half = standard_error(sample) * float(np.sqrt((n - 1) * (ratio - 1) / (1 - ratio / grown)))
    return Interval(middle - half, middle + half)


def least_n(level: float = 0.95, g: float = PRIOR_VARIANCE) -> int:
    """Return the fewest differences that can exclude anything.

    >>> least_n(0.95)
    5
    """
    check_level(level)
    return next(n for n in count(1) if (1 + n * g) ** ((n - 1) / 2) > 1 / (1 - level))
