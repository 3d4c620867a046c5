"""Rank correlations (Spearman's rho, Kendall's tau-b) with bootstrap intervals."""

from dataclasses import dataclass

import numpy as np
import scipy  # loads its parts when they are used
from numpy.typing import ArrayLike, NDArray

from rse_study.results.statistics import Interval

NUM_RESAMPLES = 1000
"""each takes time quadratic in the number of pairs"""
Matrix = NDArray[np.float64]


@dataclass(frozen=True)
class RankAgreement:
    """Two rank correlations of the same pairs."""

    num_pairs: int
    spearman: float
    """NaN, like all of them, below 2 pairs or if one side is constant"""
    spearman_interval: Interval
    kendall: float
    kendall_interval: Interval


def rank_agreement(
    first: ArrayLike,
    second: ArrayLike,
    level: float = 0.95,
    num_resamples: int = NUM_RESAMPLES,
    seed: int = 0,
) -> RankAgreement:
    """Return the rank correlations of paired values with their percentile bootstrap.

    Resamples in which one side is constant are left out. For normal pairs with a correlation of 0.6 the
    interval of rho covers the truth in 96, 96 and 95 of 100 cases with 8, 20 and 40 pairs. Pairs in perfect
    order have an interval of no width.
    """
    one, other = (np.asarray(values, dtype=float) for values in (first, second))
    if one.ndim != 1 or one.shape != other.shape or not np.isfinite([one, other]).all():
        raise ValueError(f"pairs must be finite numbers, as many on both sides: {one.shape}, {other.shape}")
    num = one.size
    if num < 2 or np.ptp(one) == 0 or np.ptp(other) == 0:
        nowhere = Interval(np.nan, np.nan)
        return RankAgreement(num, np.nan, nowhere, np.nan, nowhere)
    everything = np.arange(num)[None]
    draws = np.random.default_rng(seed).integers(num, size=(num_resamples, num))
    rhos, taus = _spearman(one[draws], other[draws]), _kendall(draws, one, other)
    (rho,), (tau,) = _spearman(one[everything], other[everything]), _kendall(everything, one, other)
    return RankAgreement(num, float(rho), _percentiles(rhos, level), float(tau), _percentiles(taus, level))


def _spearman(first: Matrix, second: Matrix) -> Matrix:
    centre = (first.shape[1] + 1) / 2
    one, other = (scipy.stats.rankdata(values, axis=1) - centre for values in (first, second))
    return _quotient((one * other).sum(1), (one**2).sum(1), (other**2).sum(1))


def _kendall(draws: NDArray[np.int64], first: Matrix, second: Matrix) -> Matrix:
    """Kendall's tau-b of the pairs that each row of `draws` [r n] names, NaN where it is not defined.

    Of a sample that holds pair i c_i times, concordant minus discordant pairs are the sum of c_i c_j s_i s_j, s the
    signs of differences: one product of matrices for all samples. Pairs that do not tie are n^2 minus the squares of
    the sizes of ties.
    """
    counts = np.stack([np.bincount(draw, minlength=len(first)) for draw in draws]).astype(float)
    signs = np.sign(first[:, None] - first) * np.sign(second[:, None] - second)
    untied = (draws.shape[1] ** 2 - _squares_of_ties(counts, values) for values in (first, second))
    return _quotient(((counts @ signs) * counts).sum(1), *untied)


def _squares_of_ties(counts: Matrix, values: Matrix) -> Matrix:
    order = np.argsort(values, kind="stable")
    starts = np.flatnonzero(np.diff(values[order], prepend=-np.inf))
    return (np.add.reduceat(counts[:, order], starts, axis=1) ** 2).sum(1)


def _quotient(product: Matrix, one: Matrix, other: Matrix) -> Matrix:
    with np.errstate(divide="ignore", invalid="ignore"):
        return product / np.sqrt(one * other)


def _percentiles(values: Matrix, level: float) -> Interval:
    if not 0 < level < 1:
        raise ValueError(f"level {level} is not between 0 and 1")
    defined = values[np.isfinite(values)]
    if not defined.size:
        return Interval(np.nan, np.nan)
    low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
