"""A model to be scored: its vectors and, if it has any, its weights."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Protocol, runtime_checkable

from rse_study.activity import ProgressCallback
from rse_study.errors import NonFiniteLoss
from rse_study.evaluation.evaluations import Embed, Evaluation, FrozenEvaluation, evaluation_rows, score_all
from rse_study.models.pooling import PoolingKind
from rse_study.results.records import EvaluationRow
from rse_study.training.loop import full_memory_named

CLASSIFIERS = "classifiers"
"""Name of a subject's folder for fine-tuned classifiers."""


@dataclass(frozen=True)
class ModelFiles:
    """The folders and settings of an encoder."""

    base: str
    """Folder or hub name that fine-tuning starts from; it is never modified."""
    pooling: PoolingKind
    made: Path
    """Folder for intermediate results, such as classifiers."""
    kept: Path
    """Folder for results to keep, such as outcomes of attacks."""
    revision: str = "main"
    device: str = "cpu"
    template: str = ""
    """Template of prompt pooling, if it is not stored with the weights."""
    prompt: str = ""
    """Text before every sentence, if it is not stored with the weights."""
    tuning: Mapping[str, float] = field(default_factory=dict)
    """Settings of its fine-tunings that are not the study's."""

    @property
    def pooling_of_classifiers(self) -> PoolingKind:
        """[CLS] for prompt pooling, as no template fits around whole texts and pairs."""
        return "cls" if self.pooling == "prompt" else self.pooling


@dataclass(frozen=True)
class ScoredModel:
    """The model that is scored, and how it embeds."""

    name: str
    embed: Embed
    weights: ModelFiles | None = None
    """None where there are only vectors (whitening, an untrained copy)."""


@runtime_checkable
class FineTunedEvaluation(Evaluation, Protocol):
    """An evaluation that needs a subject's weights."""

    def score_weights(self, weights: ModelFiles, embed: Embed, subject: str) -> list[EvaluationRow]: ...


@runtime_checkable
class RelocatableEvaluation(Evaluation, Protocol):
    """An evaluation that reads folders while it runs."""

    def relocated(self, move: Callable[[str], str]) -> "RelocatableEvaluation":
        """Return a copy that reads each folder where `move` puts it."""


def score_model(
    subject: ScoredModel,
    evaluations: Sequence[Evaluation],
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return the rows of every evaluation that the subject supports.

    `on_progress` counts evaluations of vectors, which run first. A diverging fine-tuning gives NaN, degenerate.
    """
    with full_memory_named():
        return _scores(subject, evaluations, on_progress)


def _scores(
    subject: ScoredModel, evaluations: Sequence[Evaluation], on_progress: ProgressCallback
) -> list[EvaluationRow]:
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
    """Return NaN for every measure: training would diverge again."""
    lost = [measure.metric.removeprefix(f"{evaluation.name}/") for measure in evaluation.measures]
    return evaluation_rows(evaluation, subject, "", dict.fromkeys(lost, nan), 0)
