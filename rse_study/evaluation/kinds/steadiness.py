"""Invariance as an evaluation: how much of a sentence's vector stays under changes that should not matter."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.changes import CHANGES
from rse_study.evaluation.changes.change import Resources
from rse_study.evaluation.invariance import evaluate_invariance
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure
from rse_study.spec import fingerprint_of

PRESET = "invariance"
NUM_TEXTS = 500
SEED = 0  # of the changes, the same for every model


@dataclass(frozen=True)
class Steadiness:
    """Mean cosine x100 of a sentence and its changed self: one row a change, and their mean.

    On the first 500 distinct sentences of the pairs' first side.
    """

    pairs: StsPairs
    data_dir: Path

    @property
    def name(self) -> str:
        """Task/invariance."""
        return f"{self.pairs.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """Of the sentences, and the names of the changes."""
        return fingerprint_of([self._texts(), list(CHANGES), SEED])

    @property
    def measures(self) -> tuple[Measure, ...]:
        """The mean over changes."""
        return (Measure(name=self.name, metric=f"{self.name}/mean"),)

    @property
    def num_sentences(self) -> int:
        """Every sentence, and once more for each change."""
        return len(self._texts()) * (1 + len(CHANGES))

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a change, `num_skipped` of whose texts it leaves as they are; then the mean of those that are."""
        texts = self._texts()
        scores = evaluate_invariance(embed, texts, list(CHANGES), Resources(self.data_dir), SEED)
        rows = [
            self._row(
                subject,
                one.change,
                one.similarity,
                one.num_changed,
                one.num_skipped,
                degenerate=one.degenerate,
            )
            for one in scores
        ]
        known = [row.value / 100 for row in rows if not np.isnan(row.value)]
        mean = float(np.mean(known)) if known else float("nan")
        whole = self._row(subject, "mean", mean, len(texts), 0, degenerate=any(r.degenerate for r in rows))
        return [*rows, whole]

    def _row(
        self,
        subject: str,
        change: str,
        cosine: float,
        num_examples: int,
        num_skipped: int,
        *,
        degenerate: bool,
    ) -> EvaluationRow:
        return EvaluationRow(
            subject=subject,
            task=self.pairs.name,
            split=self.pairs.split,
            aggregation=change,
            value=100 * cosine,
            num_examples=num_examples,
            degenerate=degenerate,
            fingerprint=self.fingerprint,
            preset=PRESET,
            num_skipped=num_skipped,
            seed=SEED,
        )

    def _texts(self) -> list[str]:
        return list(dict.fromkeys(self.pairs.first))[:NUM_TEXTS]
