"""Spearman's rank correlation for all similarity scores."""

import numpy as np
import scipy  # submodules load lazily

from rse_study.tensors import Float

DIGITS = 12
"""Decimals that count: later ones are rounding, which would rank equal cosines."""


def spearman(similarities: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"]) -> float:
    """Return Spearman's rho, -1..1, or NaN where it is not defined.

    It needs two values or more, all finite, and no constant side. Values that differ by rounding tie: a
    sentence paired with itself has cosine 1 only up to the last bit.

    >>> spearman(np.array([1.0, 1.0 - 1e-16, 0.5]), np.array([5.0, 4.0, 1.0]))
    0.8660254037844387
    """
    ranked = np.round(np.asarray(similarities, np.float64), DIGITS)
    if len(ranked) < 2 or not np.isfinite(ranked).all() or np.ptp(ranked) == 0 or np.ptp(gold) == 0:
        return float("nan")
    return float(scipy.stats.spearmanr(ranked, gold).statistic)
