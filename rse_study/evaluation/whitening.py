"""Whitening of frozen embeddings (Su et al. 2021), a row of the papers' tables."""

import numpy as np

from rse_study.tensors import Float

_NO_SPREAD = 1e-10
"""Share of the largest variance below which a direction is only rounding."""


def whitened(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """Centre, rotate and scale the rows until their covariance is the identity.

    Directions without variance become 0. The result is NaN if rows are no more than the directions in which
    they vary: all pairs would have the same cosine, and only its rounding would rank them.
    """
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    spread = variances > _NO_SPREAD * variances.max(initial=0.0)
    if spread.sum() >= len(centred) - 1:
        return np.full_like(centred, np.nan)
    scales = np.where(spread, 1 / np.sqrt(np.where(spread, variances, 1.0)), 0.0)
    return centred @ (directions * scales)
