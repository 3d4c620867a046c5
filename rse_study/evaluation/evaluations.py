"""What a frozen encoder can be scored on: one protocol, so that a study, a search and `evaluate` ask alike."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.overlap import token_overlap
from rse_study.evaluation.sts import Embed, StsScore, evaluate_sts
from rse_study.evaluation.probe import PRESETS
from rse_study.evaluation.remembered import Remembered
from rse_study.evaluation.transfer import Task, evaluate_transfer
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

FOLDS_SEED = 0  # of transfer's folds, the same for every model


@runtime_checkable
class Evaluation(Protocol):
    """Something to be scored on. `name`: what a study writes, and `EvaluationRow.evaluation` of every row."""

    @property
    def name(self) -> str: ...
    @property
    def fingerprint(self) -> str: ...  # of its data: a score on other data is another score
    @property
    def measures(self) -> tuple[Measure, ...]: ...  # what readers are shown of it, the first one first
    @property
    def num_sentences(self) -> int: ...  # to be embedded
    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]: ...


@dataclass(frozen=True)
class Similarity:
    """Spearman of cosines, three aggregations."""

    pairs: StsPairs

    @property
    def name(self) -> str:
        """Task/split."""
        return f"{self.pairs.name}/{self.pairs.split}"

    @property
    def fingerprint(self) -> str:
        """Of the pairs."""
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The papers' aggregation, `all`."""
        return (Measure(name=self.name, metric=f"{self.name}/all"),)

    @property
    def num_sentences(self) -> int:
        """Both sides of every pair."""
        return 2 * len(self.pairs)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row an aggregation."""
        return [_of_similarity(score, subject) for score in evaluate_sts(embed, [self.pairs])]

    def score_overlap(self, subject: str) -> list[EvaluationRow]:
        """The same for the cosine of word counts, which needs no encoder."""
        return [_of_similarity(score, subject) for score in token_overlap(self.pairs)]


@dataclass(frozen=True)
class Transfer:
    """Accuracy of a logistic regression on frozen embeddings."""

    task: Task
    preset: str

    @property
    def name(self) -> str:
        """Task/preset."""
        return f"{self.task[-1].name}/{self.preset}"

    @property
    def fingerprint(self) -> str:
        """Of all splits of the task, as its rows have it."""
        return fingerprint_of([split.fingerprint for split in self.task])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Accuracy; F1 of pairs stands in the rows beside it."""
        return (Measure(name=self.name, metric=f"{self.name}/accuracy"),)

    @property
    def num_sentences(self) -> int:
        """Every text of every split."""
        return sum(len(text) for split in self.task for text in split.texts)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a metric."""
        scores = evaluate_transfer(embed, [self.task], PRESETS.get(self.preset), FOLDS_SEED)
        return [
            EvaluationRow(
                subject=subject,
                task=score.task,
                split=score.split,
                aggregation=score.metric,
                value=score.value,
                num_examples=score.num_examples,
                degenerate=score.degenerate,
                fingerprint=score.fingerprint,
                preset=score.preset,
                seed=score.seed,
            )
            for score in scores
        ]


def score_all(embed: Embed, evaluations: Sequence[Evaluation], subject: str) -> list[EvaluationRow]:
    """Rows of every evaluation; a sentence that several of them have is embedded once."""
    remembered = Remembered(embed)
    return [row for evaluation in evaluations for row in evaluation.score(remembered, subject)]


def _of_similarity(score: StsScore, subject: str) -> EvaluationRow:
    return EvaluationRow(
        subject=subject,
        task=score.task,
        split=score.split,
        aggregation=score.aggregation,
        value=score.spearman,
        num_examples=score.num_examples,
        degenerate=score.degenerate,
        fingerprint=score.fingerprint,
    )
