"""Alignment and uniformity of embeddings on the unit sphere (Wang and Isola 2020), as SimCSE measures them.

    alignment   mean over positive pairs of |u - v|^alpha          positives: gold > 4, strictly
    uniformity  log of the mean over i < j of exp(-t |x_i - x_j|^2)    x: all sentences, first then second

Embeddings are L2-normalised and distances taken in float64. Lower is better for both. A sentence that stands in
several pairs counts as often as it stands there: its pairs with itself lie at distance 0.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Float

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.sts import Embed
from rse_study.evaluation.vectors import is_one_vector, unit_rows

GeometryMetric = Literal["alignment", "uniformity"]
POSITIVE_ABOVE = 4.0  # gold similarity, 0..5
ALPHA, T = 2.0, 2.0  # Wang and Isola's
_BLOCK = 512  # rows of distances held at once: 512 x 3000 float64 are 12 MiB


@dataclass(frozen=True)
class GeometryScore:
    """One result. NaN where it is not defined: no pair to measure, or a vector that is zero or not finite.

    `degenerate`: it is not defined, or the embeddings have collapsed to one vector: uniformity is then 0, the worst
    there is, and alignment is not defined, for it would be 0 too, the best.
    """

    task: str
    split: str
    metric: GeometryMetric
    value: float  # alignment 0..4 for alpha 2, uniformity -4t..0
    num_examples: int  # positive pairs; sentences
    degenerate: bool
    fingerprint: str  # of the pairs


def evaluate_geometry(embed: Embed, tasks: Sequence[StsPairs]) -> list[GeometryScore]:
    """Alignment and uniformity of each task. Each distinct sentence is embedded once, over all tasks."""
    sentences = list(dict.fromkeys(text for pairs in tasks for text in (*pairs.first, *pairs.second)))
    vectors = unit_rows(embed(sentences)) if sentences else np.zeros((0, 1))
    place = {sentence: row for row, sentence in enumerate(sentences)}
    scores: list[GeometryScore] = []
    for pairs in tasks:
        first, second = (vectors[[place[text] for text in side]] for side in (pairs.first, pairs.second))
        scores.extend(_score(pairs, first, second))
    return scores


def alignment(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"], alpha: float = ALPHA) -> float:
    """Mean of |u - v|^alpha over paired unit rows; NaN without any."""
    return float((np.linalg.norm(u - v, axis=1) ** alpha).mean()) if len(u) else float("nan")


def uniformity(x: Float[np.ndarray, "n d"], t: float = T) -> float:
    """Log of the mean of exp(-t |x_i - x_j|^2) over i < j of unit rows; NaN for fewer than two.

    In blocks of rows: memory grows with n, not with its square.
    """
    if len(x) < 2:
        return float("nan")
    total = 0.0
    for start in range(0, len(x), _BLOCK):
        rows = x[start : start + _BLOCK]
        # |a - b|^2 = 2 - 2ab of unit vectors; the exponent lies in [-4t, 0], so nothing over- or underflows.
        kernel = np.exp(-2 * t * np.maximum(1 - rows @ x[start:].T, 0))
        total += float(np.triu(kernel, k=1).sum())
    return float(np.log(total / (len(x) * (len(x) - 1) / 2)))


def _score(pairs: StsPairs, first: np.ndarray, second: np.ndarray) -> list[GeometryScore]:
    positive, both = pairs.gold > POSITIVE_ABOVE, np.concatenate([first, second])
    is_one = is_one_vector(both)
    # Of one vector alone alignment would be 0, the best there is.
    aligned = float("nan") if is_one else alignment(first[positive], second[positive])
    found: dict[GeometryMetric, tuple[float, int]] = {
        "alignment": (aligned, int(positive.sum())),
        "uniformity": (uniformity(both), len(both)),
    }
    return [
        GeometryScore(
            pairs.name, pairs.split, metric, value, count, is_one or bool(np.isnan(value)), pairs.fingerprint
        )
        for metric, (value, count) in found.items()
    ]
