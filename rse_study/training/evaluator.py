"""What is measured of the encoder in the course of training: dev pairs, replayed attacks, watched evaluations.

Nothing is drawn and no weight moves: a cell ends in the same weights, whatever is looked at.
"""

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.evaluation.evaluations import FrozenEvaluation, measure
from rse_study.evaluation.serialise import read_stored
from rse_study.evaluation.sts import evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.encoder import SentenceEncoder
from rse_study.training.materials import Materials
from rse_study.training.robustness import ReplayedAttacks
from rse_study.training.trial import Trial


@dataclass
class InTrainingEvaluator:
    """At the encoder as it is at the time it is asked, the training head dropped."""

    trial: Trial
    materials: Materials
    encoder: SentenceEncoder
    tokenizer: Any

    def look(self) -> dict[str, float]:
        """Spearman x100 on the dev pairs, which may select; and what is left under replayed attacks."""
        score = next(
            row for row in evaluate_sts(self.embed, [self.materials.dev]) if row.aggregation == "all"
        )
        robust = self.robustness.metrics(self.embed)
        return {"dev": score.value, "dev/degenerate": float(score.degenerate), **robust}

    def watch(self, t: int, num_steps: int) -> dict[str, float]:
        """The figures of whatever is watched at step `t`."""
        return measure(self.embed, [self.watched[name] for name in self.trial.watched_at(t, num_steps)])

    @functools.cached_property
    def embed(self) -> Embedder:
        """As evaluation asks for sentences."""
        return Embedder(self.encoder, self.tokenizer, template=self.trial.encoder.template)

    @functools.cached_property
    def robustness(self) -> ReplayedAttacks:
        """The replayed attacks, read once."""
        return ReplayedAttacks.open(self.materials)

    @functools.cached_property
    def watched(self) -> dict[str, FrozenEvaluation]:
        """The watched evaluations, read once."""
        return {name: read_stored(Path(folder)) for name, folder in self.materials.watched.items()}
