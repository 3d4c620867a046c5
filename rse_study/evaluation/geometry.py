"""Alignment and uniformity of embeddings on the unit sphere.

They are Wang and Isola's (2020), measured as SimCSE does:

    alignment   mean over positive pairs of |u - v|^alpha          positives: gold > 4, strictly
    uniformity  log of the mean over i < j of exp(-t |x_i - x_j|^2)    x: all sentences, first then second

Embeddings are L2-normalised and distances taken in float64. Lower is better for both. A sentence that stands in
several pairs counts as often as it stands there: its pairs with itself lie at distance 0.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.data.readers import read_sts
from rse_study.evaluation.vectors import Embed, is_one_vector, unit_rows
from rse_study.results.records import EvaluationRow, Measure
from rse_study.tensors import Float

PRESET = "geometry"
METRICS = ("alignment", "uniformity")
POSITIVE_ABOVE = 4.0
"""Gold similarity, 0..5, above which a pair is positive."""
ALPHA, T = 2.0, 2.0
"""Wang and Isola's exponents of alignment and uniformity."""
_BLOCK = 512  # rows of distances held at once: 512 x 3000 float64 are 12 MiB


@dataclass(frozen=True)
class AlignmentUniformity:
    """Alignment and uniformity on the pairs of a dev split.

    Lower is better for both, and neither selects a model.
    """

    pairs: StsPairs

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "AlignmentUniformity":
        """Of the dev pairs of a task (task/geometry).

        Raises InputError where they are missing or malformed.
        """
        return cls(read_sts(name.split("/")[0], "dev", data_dir))

    @property
    def name(self) -> str:
        """Task/geometry."""
        return f"{self.pairs.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """sha256 of the pairs, by which rows of other pairs are told apart."""
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The figures it gives: alignment and uniformity, of which less is better."""
        return tuple(
            Measure(name=f"{self.pairs.name} {metric}", metric=f"{self.name}/{metric}", direction="minimize")
            for metric in METRICS
        )

    @property
    def num_sentences(self) -> int:
        """Both sides of every pair."""
        return 2 * len(self.pairs)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Alignment, 0..4, of the positive pairs; uniformity, -8..0, of all sentences.

        NaN, and degenerate, where one is not defined: no pair to measure, or a vector that is zero or not finite. Where
        the embeddings have collapsed to one vector both are degenerate: uniformity is then 0, the worst there is, and
        alignment NaN, for it would be 0 too, the best.
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
        return [
            self._row(subject, "alignment", aligned, int(positive.sum()), is_one),
            self._row(subject, "uniformity", uniformity(both), len(both), is_one),
        ]

    def to_json(self) -> dict[str, Any]:
        """The pairs."""
        return {"pairs": self.pairs.to_json()}

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "AlignmentUniformity":
        """What `to_json` gave."""
        return cls(StsPairs.from_json(content["pairs"]))

    def _row(self, subject: str, metric: str, value: float, num_examples: int, is_one: bool) -> EvaluationRow:
        return EvaluationRow(
            subject=subject,
            task=self.pairs.name,
            split=self.pairs.split,
            aggregation=metric,
            value=value,
            num_examples=num_examples,
            degenerate=is_one or value != value,
            fingerprint=self.fingerprint,
            preset=PRESET,
        )


def alignment(u: Float[np.ndarray, "n d"], v: Float[np.ndarray, "n d"], alpha: float = ALPHA) -> float:
    """Mean of |u - v|^alpha over paired unit rows; NaN without any.

    Parameters
    ----------
    u, v
        Unit vectors of the two sides.
    alpha
        Exponent of the distance.
    """
    return float((np.linalg.norm(u - v, axis=1) ** alpha).mean()) if len(u) else float("nan")


def uniformity(x: Float[np.ndarray, "n d"], t: float = T) -> float:
    """Log of the mean of exp(-t |x_i - x_j|^2) over i < j of unit rows.

    NaN for fewer than two. In blocks of rows: memory grows with n, not with its square.
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
