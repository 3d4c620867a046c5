"""Which trials of a search are confirmed: a pure function of where each of them stands."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class TrialResult:
    """Where a trial of a search ended: its last step and its objective there (NaN where it has none)."""

    trial: int
    t: int
    value: float
    is_baseline: bool = False


def best_trials(
    results: Sequence[TrialResult], num_best: int, direction: Literal["maximize", "minimize"]
) -> list[int]:
    """The trials to confirm beside the baseline, best first: those that went farthest, by value among these.

    A value after fewer steps is another quantity: it never outranks one of the full budget. On a tie the earlier
    trial comes first.
    """
    sign = 1 if direction == "maximize" else -1
    candidates = [s for s in results if not s.is_baseline and math.isfinite(s.value)]
    ranked = sorted(candidates, key=lambda s: (-s.t, -sign * s.value, s.trial))
    return [result.trial for result in ranked[:num_best]]
