"""Whitening of frozen embeddings (Su et al. 2021).

It is a row of the papers' tables that needs no training.
"""

import numpy as np

from rse_study.tensors import Float

_NO_SPREAD = 1e-10
"""Share of the largest variance below which a direction holds nothing but rounding."""


def whitened(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """The rows centred, turned and scaled until their covariance is 1.

    In float64. Directions without variance (a constant feature) become 0. Rows that are no more than the directions
    they vary in become NaN: whitened, any two of them have one and the same cosine, and its rounding would be all there
    is to rank.
    """
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    spread = variances > _NO_SPREAD * variances.max(initial=0.0)
    if spread.sum() >= len(centred) - 1:
        return np.full_like(centred, np.nan)
    scales = np.where(spread, 1 / np.sqrt(np.where(spread, variances, 1.0)), 0.0)
    return centred @ (directions * scales)
