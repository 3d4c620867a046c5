"""Scores of the encoder during training, which draw nothing and move no weight."""

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rse_study.evaluation.evaluations import Embed, FrozenEvaluation
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.evaluation.sts import Similarity, aggregation_of, evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.encoder import SentenceEncoder
from rse_study.results.records import EvaluationRow
from rse_study.training.materials import Materials
from rse_study.training.trial import Trial

DEGENERATE = "robust/degenerate"


def judges_of(materials: Materials) -> list[FrozenEvaluation]:
    """Return evaluations that judge trials in training: dev pairs, replayed attacks."""
    return [Similarity(materials.dev), *attacks_in(materials)]


def attacks_in(materials: Materials) -> list[FrozenEvaluation]:
    """Open the attacks that were found once, to be replayed on other encoders."""
    pairs, texts = materials.replayed, materials.replayed_texts
    found: list[FrozenEvaluation] = [ReplayedPairs.open(Path(pairs))] if pairs else []
    return [*found, ReplayedTexts.open(Path(texts))] if texts else found


def robust_metrics(
    attacks: Sequence[FrozenEvaluation], embed: Embed, scored: list[EvaluationRow]
) -> dict[str, float]:
    """Return robust/..., with 1 as `degenerate` if pairs or texts show a collapse.

    The rows behind them join `scored`.
    """
    metrics: dict[str, float] = {}
    for attack in attacks:
        rows = attack.score(embed, "")
        scored += rows
        metrics |= {f"robust/{row.aggregation}": row.value for row in rows}
        metrics[DEGENERATE] = max(metrics.get(DEGENERATE, 0.0), *(float(row.degenerate) for row in rows))
    return metrics


@dataclass
class InTrainingEvaluator:
    """Evaluations of the current encoder, without its training head."""

    trial: Trial
    materials: Materials
    encoder: SentenceEncoder
    tokenizer: Any
    scored: list[EvaluationRow] = field(default_factory=list)
    """Rows of the last evaluation on dev, with their items."""

    def evaluate_dev(self) -> dict[str, float]:
        """Return Spearman x100 on the dev pairs, and the scores under replayed attacks.

        Of several dev sets `dev` is the mean, and dev/NAME the score on each.
        """
        dev = self.materials.dev
        self.scored = evaluate_sts(self.embed, [dev, *dev.tasks()])
        rows = {(row.task, row.aggregation): row for row in self.scored}
        score = rows[dev.name, aggregation_of(dev)]
        each = {f"dev/{name}": rows[name, "all"].value for name in dev.subsets}
        robust = robust_metrics(self.attacks, self.embed, self.scored)
        return {"dev": score.value, "dev/degenerate": float(score.degenerate), **each, **robust}

    @functools.cached_property
    def embed(self) -> Embedder:
        return Embedder(self.encoder, self.tokenizer, template=self.trial.encoder.template)

    @functools.cached_property
    def attacks(self) -> list[FrozenEvaluation]:
        return attacks_in(self.materials)
