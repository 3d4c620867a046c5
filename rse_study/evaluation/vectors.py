"""Embeddings: unit vectors, and tests for a collapsed encoder."""

from collections.abc import Callable

import numpy as np

from rse_study.tensors import Float

Embed = Callable[[list[str]], np.ndarray]
"""Sentences to their vectors, [n d]."""

COLLAPSED = 1e-5
"""Relative difference up to which vectors count as one, given float32's rounding."""


def unit_rows(embeddings: np.ndarray, zero: float = float("nan")) -> Float[np.ndarray, "n d"]:
    """Normalise rows in float64; a non-finite row becomes NaN, a zero row `zero`."""
    exact = np.asarray(embeddings, np.float64)
    norm = np.linalg.norm(exact, axis=1, keepdims=True)
    undirected = np.where(norm == 0, zero, np.nan) * np.ones_like(exact)
    return np.divide(exact, norm, out=undirected, where=np.isfinite(norm) & (norm > 0))


def is_one_vector(rows: Float[np.ndarray, "n d"]) -> bool:
    """Whether unit rows are equal up to rounding; False for no rows, or NaN."""
    return len(rows) > 0 and bool(np.abs(rows - rows[0]).max() <= COLLAPSED)


def is_collapsed(vectors: Float[np.ndarray, "n d"]) -> bool:
    """Whether a value is not finite, or the rows, of any length, are all the same."""
    if not np.isfinite(vectors).all():
        return True
    return float(np.abs(vectors - vectors[0]).max()) <= COLLAPSED * float(np.abs(vectors).max())
