"""Which trials of a search are confirmed: a pure function of their results."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rse_study.results.ranking import best_first


@dataclass(frozen=True)
class TrialResult:
    """Where a trial of a search ended."""

    trial: int
    t: int
    """its last step"""
    value: float
    """its objective there; NaN where it has none"""
    is_baseline: bool = False


def best_trials(
    results: Sequence[TrialResult], num_best: int, direction: Literal["maximize", "minimize"]
) -> list[int]:
    """Return the trials to confirm beside the baseline, best first.

    By the rule of `results.ranking`; on a tie the earlier trial comes first.

    Parameters
    ----------
    results
        Of all trials.
    num_best
        How many.
    direction
        Which values are better.
    """
    candidates = sorted((one for one in results if not one.is_baseline), key=lambda one: one.trial)
    return best_first([(one.trial, one.t, one.value) for one in candidates], direction)[:num_best]
