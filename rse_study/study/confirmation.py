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

    The order is that of `results.ranking`; on a tie the earlier trial comes first.

    Parameters
    ----------
    results
        All trials of the search.
    num_best
        How many are confirmed.
    direction
        Which values are better.
    """
    candidates = sorted((s for s in results if not s.is_baseline), key=lambda s: s.trial)
    return best_first([(s.trial, s.t, s.value) for s in candidates], direction)[:num_best]
