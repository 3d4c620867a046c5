"""What is scored: how it embeds and, where there are any, the weights that may be fine-tuned."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Protocol, runtime_checkable

from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.evaluations import Evaluation, FrozenEvaluation, score_all
from rse_study.evaluation.sts import Embed
from rse_study.models.pooling import PoolingKind
from rse_study.results.records import EvaluationRow

CLASSIFIERS = "classifiers"  # a subject's folder of what is fine-tuned on the way


@dataclass(frozen=True)
class ModelFiles:
    """Where an encoder lies. `base`: folder or hub name, which fine-tuning begins with; nothing of it is changed.

    `made`: a folder for what is made of it on the way (classifiers), `kept`: one for what stays (outcomes of attacks).
    """

    base: str
    pooling: PoolingKind
    made: Path
    kept: Path
    revision: str = "main"
    device: str = "cpu"
    template: str = ""  # of prompt pooling, where it is not stored beside the weights

    @property
    def pooling_of_classifiers(self) -> PoolingKind:
        """Whole texts and pairs are classified: no template fits around them, so that [CLS] stands in for [MASK]."""
        return "cls" if self.pooling == "prompt" else self.pooling


@dataclass(frozen=True)
class ScoredModel:
    """`name` stands in every row. `weights` are None where vectors are all there is (whitening, an untrained copy)."""

    name: str
    embed: Embed
    weights: ModelFiles | None = None


@runtime_checkable
class FineTunedEvaluation(Evaluation, Protocol):
    """An evaluation that a subject without weights cannot be asked."""

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]: ...


def can_score(subject: ScoredModel, evaluation: Evaluation) -> bool:
    """Whether the subject has what is asked for."""
    return subject.weights is not None or not isinstance(evaluation, FineTunedEvaluation)


def score_model(subject: ScoredModel, evaluations: Sequence[Evaluation]) -> list[EvaluationRow]:
    """Rows of every evaluation the subject can be asked; what takes vectors alone comes first.

    Where a fine-tuning diverges its figures are NaN, and degenerate.
    """
    of_vectors = [one for one in evaluations if isinstance(one, FrozenEvaluation)]
    rows = score_all(subject.embed, of_vectors, subject.name)
    if subject.weights is None:
        return rows
    for one in evaluations:
        if isinstance(one, FineTunedEvaluation):
            try:
                rows += one.score_weights(subject.weights, subject.embed, subject.name)
            except NonFiniteLoss:
                rows += _diverged(one, subject.name)
    return rows


def _diverged(evaluation: Evaluation, subject: str) -> list[EvaluationRow]:
    """No classifier came of these weights, and none would another time: that is the result, and no figure."""
    task, _, preset = evaluation.name.partition("/")
    return [
        EvaluationRow(
            subject=subject,
            task=task,
            split="",
            aggregation=measure.metric.removeprefix(f"{evaluation.name}/"),
            value=nan,
            num_examples=0,
            degenerate=True,
            fingerprint=evaluation.fingerprint,
            preset=preset,
        )
        for measure in evaluation.measures
    ]
