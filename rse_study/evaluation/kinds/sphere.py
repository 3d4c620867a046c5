"""Alignment and uniformity as an evaluation."""

from dataclasses import dataclass

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.geometry import evaluate_geometry
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure

PRESET = "geometry"


@dataclass(frozen=True)
class AlignmentUniformity:
    """Alignment and uniformity on the pairs of a dev split, as SimCSE has it: lower is better, neither selects."""

    pairs: StsPairs

    @property
    def name(self) -> str:
        """Task/geometry."""
        return f"{self.pairs.name}/{PRESET}"

    @property
    def fingerprint(self) -> str:
        """Of the pairs."""
        return self.pairs.fingerprint

    @property
    def measures(self) -> tuple[Measure, ...]:
        """Both."""
        return tuple(
            Measure(name=f"{self.pairs.name} {metric}", metric=f"{self.name}/{metric}", direction="minimize")
            for metric in ("alignment", "uniformity")
        )

    @property
    def num_sentences(self) -> int:
        """Both sides of every pair."""
        return 2 * len(self.pairs)

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """A row a metric."""
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
                preset=PRESET,
            )
            for score in evaluate_geometry(embed, [self.pairs])
        ]
