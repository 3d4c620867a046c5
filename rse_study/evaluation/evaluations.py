"""What an encoder can be scored on: one protocol for all."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from rse_study.activity import ProgressCallback
from rse_study.evaluation.cached_encoder import CachedEncoder
from rse_study.evaluation.vectors import Embed
from rse_study.results.records import EvaluationRow, Measure


@runtime_checkable
class Evaluation(Protocol):
    """Something an encoder can be scored on, with its data."""

    @property
    def name(self) -> str:
        """What a study writes, and `EvaluationRow.evaluation` of every row."""

    @property
    def fingerprint(self) -> str:
        """Of its data: a score on other data is another score."""

    @property
    def measures(self) -> tuple[Measure, ...]:
        """What readers are shown of it, the first one first, and which way is better."""

    @property
    def num_sentences(self) -> int:
        """How many are embedded: the price of it."""


@runtime_checkable
class FrozenEvaluation(Evaluation, Protocol):
    """An evaluation of a frozen encoder."""

    def score(self, embed: Embed, subject: str) -> list[EvaluationRow]:
        """Rows of what `embed` gives; `subject` is what is scored, as the rows call it."""


@runtime_checkable
class RegisteredEvaluation(FrozenEvaluation, Protocol):
    """An evaluation of a frozen encoder that the registry has.

    It is read by its name, and handed on as JSON.
    """

    @classmethod
    def read(cls, name: str, data_dir: Path) -> "RegisteredEvaluation":
        """The one of that name, with its data.

        Raises InputError where files are missing or malformed.
        """

    def to_json(self) -> dict[str, Any]:
        """Its data, for JSON."""

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> "RegisteredEvaluation":
        """What `to_json` gave."""


def measure(embed: Embed, evaluations: Iterable[FrozenEvaluation]) -> dict[str, float]:
    """Their figures, by `EvaluationRow.metric`.

    None of them hangs on what else is asked, not in the last bit.
    """
    rows = (row for evaluation in evaluations for row in evaluation.score(embed, ""))
    return {row.metric: row.value for row in rows}


def score_all(
    embed: Embed,
    evaluations: Sequence[FrozenEvaluation],
    subject: str,
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[EvaluationRow]:
    """Rows of every evaluation; a sentence that several of them have is embedded once.

    Parameters
    ----------
    embed
        Sentences to vectors.
    evaluations
        The evaluations that score the vectors, in the order of their rows.
    subject
        What is scored, as the rows call it.
    on_progress
        Is called with the number of evaluations done, and of how many: first before any.
    """
    cached, rows = CachedEncoder(embed), list[EvaluationRow]()
    on_progress(0, len(evaluations))
    for number, evaluation in enumerate(evaluations, start=1):
        rows += evaluation.score(cached, subject)
        on_progress(number, len(evaluations))
    return rows
