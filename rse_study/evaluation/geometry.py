"""Alignment and uniformity of embeddings on the unit sphere.

Defined by Wang and Isola (2020), measured as in SimCSE; lower is better for both:

    alignment   mean over positive pairs of |u - v|^alpha          positives: gold > 4, strictly
    uniformity  log of the mean over i < j of exp(-t |x_i - x_j|^2)    x: all sentences, first then second

Distances are taken in float64. A sentence in several pairs counts several times, so it also pairs with
itself, at distance 0.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data.readers import read_sts
from rse_study.evaluation.evaluations import Embed, PairsEvaluation, evaluation_row, is_one_vector, unit_rows
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure
from rse_study.tensors import Float

GEOMETRY_PRESET = "geometry"
METRICS = ("alignment", "uniformity")
POSITIVE_ABOVE = 4.0
"""Gold similarity, 0..5, above which a pair is positive."""
ALPHA, T = 2.0, 2.0
"""Wang and Isola's exponents of alignment and uniformity."""
_BLOCK = 512  # rows of distances held at once: 512 x 3000 float64 are 12 MiB


@dataclass(frozen=True)
class AlignmentUniformity(PairsEvaluation):
    """Alignment and uniformity on a task's dev pairs; neither selects a model."""

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "AlignmentUniformity":
        return cls(read_sts(name.split("/")[0], "dev", data_dir))

    @property
    def name(self) -> str:
        return f"{self.pairs.name}/{GEOMETRY_PRESET}"

    @property
    def measures(self) -> tuple[Measure, ...]:
        return tuple(
            Measure(name=f"{self.pairs.name} {metric}", metric=f"{self.name}/{metric}", direction="minimize")
            for metric in METRICS
        )

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return alignment, 0..4, of positive pairs and uniformity, -8..0, of all texts.

        Undefined figures are NaN and degenerate. If embeddings have collapsed to one vector, uniformity is 0,
        its worst value, and alignment NaN, because it would be 0, its best.
        """
        sentences = list(dict.fromkeys([*self.pairs.first, *self.pairs.second]))
        vectors = unit_rows(embed(sentences)) if sentences else np.zeros((0, 1))
        row_of = {sentence: row for row, sentence in enumerate(sentences)}
        first, second = (
            vectors[[row_of[text] for text in side]] for side in (self.pairs.first, self.pairs.second)
        )
        positive, both = self.pairs.gold > POSITIVE_ABOVE, np.concatenate([first, second])
        is_one = is_one_vector(both)
        aligned = float("nan") if is_one else alignment(first[positive], second[positive])
        distances = np.linalg.norm(first[positive] - second[positive], axis=1) ** ALPHA
        figures = {"alignment": (aligned, int(positive.sum())), "uniformity": (uniformity(both), len(both))}
        return [
            evaluation_row(
                self, subject, self.pairs.split, metric, value, num, degenerate=is_one or value != value,
                items=ItemScores.of(distances) if metric == "alignment" and value == value else None,
            )
            for metric, (value, num) in figures.items()
        ]  # fmt: skip


def alignment(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"], alpha: float = ALPHA) -> float:
    """Return the mean of |u - v|^alpha over paired unit rows; NaN if there are none."""
    return float((np.linalg.norm(u - v, axis=1) ** alpha).mean()) if len(u) else float("nan")


def uniformity(x: Float[np.ndarray, "n d"], t: float = T) -> float:
    """Return the log of the mean of exp(-t |x_i - x_j|^2) over i < j of unit rows.

    NaN for fewer than two rows. Computed in blocks, so memory grows with n, not with its square.
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
