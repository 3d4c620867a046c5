"""Whitening of frozen embeddings: a row of the papers' tables that needs no training (Su et al. 2021)."""

import numpy as np
from jaxtyping import Float

_NO_SPREAD = 1e-10  # share of the largest variance below which a direction holds nothing but rounding


def whitened(vectors: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n d"]:
    """The rows centred, turned and scaled until their covariance is the identity, in float64.

    Directions without variance (fewer rows than features, a constant feature) become 0.
    """
    centred = np.asarray(vectors, np.float64) - np.mean(vectors, axis=0, dtype=np.float64)
    variances, directions = np.linalg.eigh(centred.T @ centred / len(centred))
    spread = variances > _NO_SPREAD * variances.max(initial=0.0)
    scales = np.where(spread, 1 / np.sqrt(np.where(spread, variances, 1.0)), 0.0)
    return centred @ (directions * scales)
