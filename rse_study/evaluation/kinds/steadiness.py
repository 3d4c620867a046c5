"""Invariance as an evaluation: how much of a sentence's vector stays under changes that should not matter."""

from dataclasses import dataclass
from functools import cached_property
from math import fsum, nan
from pathlib import Path

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import ChangeResources
from rse_study.evaluation.invariance import changed_texts, score_changes
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

PRESET = "invariance"
NUM_TEXTS = 500
SEED = 0  # of the changes, the same for every model


@dataclass(frozen=True)
class Invariance:
    """Mean cosine x100 of a sentence and its changed self: one row a change, and their mean.

    `changed`: the sentences after each change, by its name. They are made once, where the tables lie.
    """

    task: str
    split: str
    texts: list[str]
    changed: dict[str, list[str]]

    @classmethod
    def of(cls, pairs: StsPairs, data_dir: Path) -> "Invariance":
        """The first 500 distinct sentences of the pairs' first side. Raises InputError where a table is missing."""
        texts = list(dict.fromkeys(pairs.first))[:NUM_TEXTS]
        changed = changed_texts(texts, list(CHANGES), ChangeResources(data_dir), SEED)
        return cls(pairs.name, pairs.split, texts, changed)

    @property
    def name(self) -> str:
        """Task/invariance."""
        return f"{self.task}/{PRESET}"

    @cached_property
    def fingerprint(self) -> str:
        """Of the sentences, and of what they are changed to."""
        return fingerprint_of([self.texts, self.changed])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The mean over changes."""
        return (Measure(name=self.name, metric=f"{self.name}/mean"),)

    @property
    def num_sentences(self) -> int:
        """Every sentence, and once more for each change."""
        return len(self.texts) * (1 + len(self.changed))

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a change, `num_skipped` of whose texts it leaves as they are; then the mean of those that do change.

        A change that leaves every text alone has no part in the mean. Where vectors are not finite, or one and the
        same for all, nothing is said of steadiness: NaN, and degenerate.
        """
        scores = score_changes(embed, self.texts, self.changed, SEED)
        rows = [
            self._row(
                subject,
                one.change,
                nan if one.degenerate else one.similarity,
                one.num_changed,
                one.num_skipped,
            )
            for one in scores
        ]
        told = [row.value / 100 for row in rows if row.num_examples]
        mean = fsum(told) / len(told) if told else nan
        return [*rows, self._row(subject, "mean", mean, len(self.texts), 0)]

    def _row(
        self, subject: str, change: str, cosine: float, num_examples: int, num_skipped: int
    ) -> EvaluationRow:
        return EvaluationRow(
            subject=subject,
            task=self.task,
            split=self.split,
            aggregation=change,
            value=100 * cosine,
            num_examples=num_examples,
            degenerate=cosine != cosine,
            fingerprint=self.fingerprint,
            preset=PRESET,
            num_skipped=num_skipped,
            seed=SEED,
        )
