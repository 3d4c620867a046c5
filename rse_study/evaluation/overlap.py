"""Token overlap, a baseline: a task that it solves says little about encoders."""

import re
from collections import Counter

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.tensors import Float

_TOKEN = re.compile(r"\w+")


def overlaps(pairs: StsPairs) -> Float[np.ndarray, " n"]:
    """Return each pair's cosine of lower-cased word counts; 0 without words."""
    return np.array([_cosine(*pair) for pair in zip(pairs.first, pairs.second, strict=True)], np.float64)


def _cosine(first: str, second: str) -> float:
    one, other = (Counter(_TOKEN.findall(text.lower())) for text in (first, second))
    lengths = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return float(sum(n * other[token] for token, n in one.items()) / lengths**0.5) if lengths else 0.0
