"""Which trials of a search are confirmed: a pure function of their results."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


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

    Those that went farthest, by value among these: a value after fewer steps is another quantity, it never outranks
    one of the full budget. On a tie the earlier trial comes first.

    Parameters
    ----------
    results
        Of all trials.
    num_best
        How many.
    direction
        Which values are better.
    """
    sign = 1 if direction == "maximize" else -1
    candidates = [s for s in results if not s.is_baseline and math.isfinite(s.value)]
    ranked = sorted(candidates, key=lambda s: (-s.t, -sign * s.value, s.trial))
    return [result.trial for result in ranked[:num_best]]
