"""Baseline without any model: cosine of token counts. A task it solves says little about an encoder."""

import re
from collections import Counter

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.sts import StsScore, score_pairs

_TOKEN = re.compile(r"\w+")


def token_overlap(pairs: StsPairs) -> list[StsScore]:
    """The task's scores, by aggregation, for the cosine of lower-cased word counts."""
    return score_pairs(
        pairs, np.array([_cosine(*pair) for pair in zip(pairs.first, pairs.second, strict=True)])
    )


def _cosine(first: str, second: str) -> float:
    one, other = (Counter(_TOKEN.findall(text.lower())) for text in (first, second))
    lengths = sum(n * n for n in one.values()) * sum(n * n for n in other.values())
    return float(sum(n * other[token] for token, n in one.items()) / lengths**0.5) if lengths else 0.0
