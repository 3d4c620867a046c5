"""The figures of an attack on a set of inputs, counted as TextAttack counts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import fsum, nan

from rse_study.evaluation.attacks.outcome import AttackOutcome


@dataclass(frozen=True)
class Summary:
    """Shares are 0..1; NaN where there is nothing to take a share or a mean of."""

    num_inputs: int
    num_skipped: int
    num_succeeded: int
    num_failed: int
    original_accuracy: float
    """inputs that were not skipped"""
    accuracy_under_attack: float
    """inputs that withstood"""
    success_rate: float
    """successes / (successes + failures)"""
    mean_queries: float
    """over inputs that were not skipped"""
    share_of_words_changed: float
    """mean over successes"""


def summarise(outcomes: Iterable[AttackOutcome]) -> Summary:
    """Each input once, in any order."""
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
