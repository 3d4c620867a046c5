"""A transfer task as an evaluation, under one preset."""

from dataclasses import dataclass

from rse_study.evaluation.probe import PRESETS
from rse_study.evaluation.sts import Embed
from rse_study.evaluation.transfer import Task, evaluate_transfer
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

FOLDS_SEED = 0  # of the folds, the same for every model


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
