"""What is scored: vectors and, where there are any, weights."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Protocol, runtime_checkable

from rse_study.activity import ProgressCallback
from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.evaluations import Evaluation, FrozenEvaluation, score_all
from rse_study.evaluation.vectors import Embed
from rse_study.models.pooling import PoolingKind
from rse_study.results.records import EvaluationRow

CLASSIFIERS = "classifiers"
"""A subject's folder of what is fine-tuned on the way."""


@dataclass(frozen=True)
class ModelFiles:
    """Where an encoder lies."""

    base: str
    """Folder or hub name, which fine-tuning begins with; nothing of it is changed."""
    pooling: PoolingKind
    made: Path
    """A folder for what is made of it on the way (classifiers)."""
    kept: Path
    """A folder for what stays (outcomes of attacks)."""
    revision: str = "main"
    device: str = "cpu"
    template: str = ""
    """Of prompt pooling, where it does not lie with the weights."""

    @property
    def pooling_of_classifiers(self) -> PoolingKind:
        """Pooling of classifiers made of the encoder.

        They read whole texts and pairs, around which no template fits: [CLS] stands in for [MASK].
        """
        return "cls" if self.pooling == "prompt" else self.pooling


@dataclass(frozen=True)
class ScoredModel:
    """What is scored, and how it embeds."""

    name: str
    """Stands in every row."""
    embed: Embed
    weights: ModelFiles | None = None
    """None where vectors are all there is (whitening, an untrained copy)."""


@runtime_checkable
class FineTunedEvaluation(Evaluation, Protocol):
    """An evaluation that a subject without weights cannot be asked."""

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]: ...


@runtime_checkable
class RelocatableEvaluation(Evaluation, Protocol):
    """An evaluation that reads folders where it is asked."""

    def relocated(self, move: Callable[[str], str]) -> "RelocatableEvaluation":
        """The same one, with every folder where `move` puts it."""


def score_model(
    subject: ScoredModel,
    evaluations: Sequence[Evaluation],
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Rows of every evaluation the subject can be asked.

    What takes vectors alone comes first. Where a fine-tuning diverges its figures are NaN, and degenerate.

    Parameters
    ----------
    subject
        What is scored.
    evaluations
        What it is asked.
    on_progress
        Is called with the number of evaluations of vectors done, and of how many.
    """
    of_vectors = [one for one in evaluations if isinstance(one, FrozenEvaluation)]
    rows = score_all(subject.embed, of_vectors, subject.name, on_progress)
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
