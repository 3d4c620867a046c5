"""STS as an evaluation: Spearman of the cosines with human judgement."""

from dataclasses import dataclass

from rse_study.data.pairs import StsPairs
from rse_study.evaluation.overlap import token_overlap
from rse_study.evaluation.sts import Embed, StsScore, evaluate_sts
from rse_study.results.records import EvaluationRow, Measure


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
