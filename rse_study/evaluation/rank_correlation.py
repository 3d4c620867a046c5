"""Spearman's rank correlation, as every figure of similarity here is computed."""

import numpy as np
import scipy  # loads its parts when they are used

from rse_study.tensors import Float

DIGITS = 12
"""Decimals of a similarity that count: those behind are rounding, which gives equal cosines an order."""


def spearman(similarities: Float[np.ndarray, " n"], gold: Float[np.ndarray, " n"]) -> float:
    """Spearman's rho, -1..1; NaN where it is not defined.

    It is not where there are fewer than two values, all of one side are equal, or one is not finite. A sentence paired
    with itself has cosine 1, but for its last bit: such pairs tie.

    >>> spearman(np.array([1.0, 1.0 - 1e-16, 0.5]), np.array([5.0, 4.0, 1.0]))
    0.8660254037844387
    """
    ranked = np.round(np.asarray(similarities, np.float64), DIGITS)
    if len(ranked) < 2 or not np.isfinite(ranked).all() or np.ptp(ranked) == 0 or np.ptp(gold) == 0:
        return float("nan")
    return float(scipy.stats.spearmanr(ranked, gold).statistic)
