"""What an encoder gives: vectors, their directions, and how a collapse is told."""

from collections.abc import Callable

import numpy as np

from rse_study.tensors import Float

Embed = Callable[[list[str]], np.ndarray]
"""Sentences to their vectors, [n d]."""

COLLAPSED = 1e-5
"""Vectors that differ by less, measured by their length, are one vector and float32's rounding."""


def unit_rows(embeddings: np.ndarray, zero: float = float("nan")) -> Float[np.ndarray, "n d"]:
    """Rows of length 1, in float64.

    Without direction are a row that is not finite, which becomes NaN, and one of length 0, which becomes `zero`.
    """
    exact = np.asarray(embeddings, np.float64)
    norm = np.linalg.norm(exact, axis=1, keepdims=True)
    undirected = np.where(norm == 0, zero, np.nan) * np.ones_like(exact)
    return np.divide(exact, norm, out=undirected, where=np.isfinite(norm) & (norm > 0))


def is_one_vector(rows: Float[np.ndarray, "n d"]) -> bool:
    """Whether unit rows are all the same, but for float32's rounding.

    Not of none, nor where one is NaN.
    """
    return len(rows) > 0 and bool(np.abs(rows - rows[0]).max() <= COLLAPSED)


def is_collapsed(vectors: Float[np.ndarray, "n d"]) -> bool:
    """Whether a number is not finite, or the rows, of any length, are all one."""
    if not np.isfinite(vectors).all():
        return True
    return float(np.abs(vectors - vectors[0]).max()) <= COLLAPSED * float(np.abs(vectors).max())
