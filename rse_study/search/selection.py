"""Which trials a search chooses.

The one rule for confirmation, reports and status.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Generic

from rse_study.search.ranking import Direction, Key, best_first


@dataclass(frozen=True)
class TrialResult(Generic[Key]):
    """Where a trial ended."""

    key: Key
    t: int
    """its last step"""
    values: tuple[float, ...]
    """its objectives there; NaN where it has none"""
    is_feasible: bool = True
    """whether it keeps to all constraints"""

    @property
    def is_scored(self) -> bool:
        """Whether it has all objectives."""
        return all(math.isfinite(value) for value in self.values)


def chosen_first(trials: Iterable[TrialResult[Key]], directions: Sequence[Direction]) -> list[Key]:
    """Return the trials that a search would choose, in order.

    All that are scored and feasible. Of one objective best first (`search.ranking`). Of several front by front, as
    NSGA-II sorts them (Deb et al. 2002): of each its knee, then what adds most to the chosen ones (`search.pareto`).

    Parameters
    ----------
    trials
        In the order of their numbers, which decides ties.
    directions
        Of the objectives.
    """
    able = [trial for trial in trials if trial.is_feasible and trial.is_scored]
    if len(directions) == 1:
        return best_first(((trial.key, trial.t, trial.values[0]) for trial in able), directions[0])
    # numpy, which a look at a study with one objective does without
    from rse_study.search.pareto import oriented, representatives

    ordered: list[Key] = []
    while able:
        members = front_of(able, directions)
        points = oriented([trial.values for trial in members], directions)
        ordered += [members[index].key for index in representatives(points, len(members))]
        able = [trial for trial in able if trial not in members]
    return ordered


def front_of(trials: Iterable[TrialResult[Key]], directions: Sequence[Direction]) -> list[TrialResult[Key]]:
    """Return the trials that no other dominates.

    Of those that are scored and feasible, and went farthest: values after fewer steps are other quantities.

    Parameters
    ----------
    trials
        Of the search.
    directions
        Of the objectives.
    """
    from rse_study.search.pareto import front, oriented

    able = [trial for trial in trials if trial.is_feasible and trial.is_scored]
    farthest = max((trial.t for trial in able), default=0)
    able = [trial for trial in able if trial.t == farthest]
    kept = front(oriented([trial.values for trial in able], directions))
    return [trial for trial, stays in zip(able, kept, strict=True) if stays]
