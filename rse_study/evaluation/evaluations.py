"""What an encoder can be scored on: one protocol, so that a study, a search and `evaluate` ask alike."""

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.sts import Embed
from rse_study.results.records import EvaluationRow, Measure


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


@runtime_checkable
class FrozenEvaluation(Evaluation, Protocol):
    """An evaluation of a frozen encoder."""

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]: ...


def measure(embed: Embed, evaluations: Iterable[FrozenEvaluation]) -> dict[str, float]:
    """Their figures by `EvaluationRow.metric`; none of them hangs on what else is asked, not in the last bit."""
    rows = (row for evaluation in evaluations for row in evaluation.score(embed, ""))
    return {row.metric: row.value for row in rows}


def score_all(embed: Embed, evaluations: Sequence[FrozenEvaluation], subject: str) -> list[EvaluationRow]:
    """Rows of every evaluation; a sentence that several of them have is embedded once."""
    remembered = CachedEncoder(embed)
    return [row for evaluation in evaluations for row in evaluation.score(remembered, subject)]
