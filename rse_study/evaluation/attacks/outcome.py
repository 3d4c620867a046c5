"""Outcomes of attacks, and their figures, counted as in TextAttack."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import fsum, nan
from typing import Any, Literal

from rse_study.data.labelled import Text
from rse_study.evaluation.attacks.goals import Gold

AttackVerdict = Literal["succeeded", "failed", "skipped"]


@dataclass(frozen=True)
class AttackOutcome:
    """The outcome of an attack on one input: one line in the file of outcomes."""

    index: int
    original: Text
    adversarial: Text
    """the best text found, even if it misses the goal; the original if skipped"""
    outcome: AttackVerdict
    label: Gold
    original_scores: tuple[float, ...]
    adversarial_scores: tuple[float, ...]
    num_queries: int
    num_words: int
    changed: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Summary:
    """Figures of an attack; shares are 0..1, NaN where the denominator is 0."""

    num_inputs: int
    num_skipped: int
    num_succeeded: int
    num_failed: int
    original_accuracy: float
    """share of inputs that were not skipped"""
    accuracy_under_attack: float
    """share of inputs on which the attack failed"""
    success_rate: float
    """successes / (successes + failures)"""
    mean_queries: float
    """over inputs that were not skipped"""
    share_of_words_changed: float
    """mean over successes"""


def summarise(outcomes: Iterable[AttackOutcome]) -> Summary:
    """Summarise outcomes, one per input, in any order."""
    rows = sorted(outcomes, key=lambda row: row.index)
    attacked = [row for row in rows if row.outcome != "skipped"]
    succeeded = [row for row in attacked if row.outcome == "succeeded"]
    num_failed = len(attacked) - len(succeeded)
    return Summary(
        num_inputs=len(rows),
        num_skipped=len(rows) - len(attacked),
        num_succeeded=len(succeeded),
        num_failed=num_failed,
        original_accuracy=_share(len(attacked), len(rows)),
        accuracy_under_attack=_share(num_failed, len(rows)),
        success_rate=_share(len(succeeded), len(attacked)),
        mean_queries=_mean([row.num_queries for row in attacked]),
        share_of_words_changed=_mean([len(row.changed) / row.num_words for row in succeeded]),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else nan


def _mean(values: Sequence[int | float]) -> float:
    return fsum(values) / len(values) if values else nan
