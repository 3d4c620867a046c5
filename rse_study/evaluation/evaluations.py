"""The protocol of evaluations: what an encoder can be scored on."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rse_study.activity import ProgressCallback
from rse_study.data.labelled import StsPairs
from rse_study.evaluation.vectors import CachedEncoder, Embed
from rse_study.results.item_scores import ItemScores
from rse_study.results.records import EvaluationRow, Measure


@runtime_checkable
class Evaluation(Protocol):
    """Something that an encoder can be scored on, with its data."""

    @property
    def name(self) -> str:
        """The name in a study, and `EvaluationRow.evaluation` of every row."""

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the data: scores on other data are not comparable."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Figures shown to readers, the main one first, and which direction is better."""

    @property
    def num_sentences(self) -> int:
        """The number of sentences to embed, a measure of its cost."""


@runtime_checkable
class FrozenEvaluation(Evaluation, Protocol):
    """An evaluation of a frozen encoder."""

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Return the rows for `embed`; `subject` names what is scored."""


@dataclass(frozen=True)
class PairsEvaluation:
    """The base class of registered evaluations whose data are pairs."""

    pairs: StsPairs

    @property
    def fingerprint(self) -> str:
        return self.pairs.fingerprint

    @property
    def num_sentences(self) -> int:
        return self.pairs.num_sentences


def evaluation_row(
    evaluation: Evaluation,
    subject: str,
    split: str,
    aggregation: str,
    value: float,
    num_examples: int,
    *,
    degenerate: bool,
    num_skipped: int = 0,
    seed: int = 0,
    items: ItemScores | None = None,
) -> EvaluationRow:
    """Return a row of an evaluation whose name is task/preset."""
    task, _, preset = evaluation.name.partition("/")
    return EvaluationRow(
        subject=subject, task=task, split=split, aggregation=aggregation, value=value, num_examples=num_examples,
        degenerate=degenerate, fingerprint=evaluation.fingerprint, preset=preset, num_skipped=num_skipped, seed=seed,
        items=items,
    )  # fmt: skip


def score_all(
    embed: Embed,
    evaluations: Sequence[FrozenEvaluation],
    subject: str,
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Return the rows of every evaluation, embedding shared sentences once.

    `on_progress` gets the number of evaluations done and their total, the first time with 0.
    """
    cached, rows = CachedEncoder(embed), list[EvaluationRow]()
    on_progress(0, len(evaluations))
    for number, evaluation in enumerate(evaluations, start=1):
        rows += evaluation.score(cached, subject)
        on_progress(number, len(evaluations))
    return rows
