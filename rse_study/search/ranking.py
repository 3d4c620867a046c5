"""Which trial is best: the one rule.

Confirmation, reports, kept models and `--trial best` ask it.
"""

import math
from collections.abc import Iterable, Sequence
from typing import Literal, TypeVar

Key = TypeVar("Key")
Direction = Literal["maximize", "minimize"]
"""Which way a metric is better."""
ScoredTrial = tuple[Key, int, float]
"""Whose it is, its last step, its objective there (NaN where it has none)."""


def best_first(trials: Iterable[ScoredTrial[Key]], direction: Direction) -> list[Key]:
    """Return those that have an objective, best first.

    By how far they went, then by value, then in the order given. A value after fewer steps is another quantity: it
    never outranks one of the full budget.

    >>> best_first([("a", 60, 55.0), ("b", 15, 90.0), ("c", 60, 56.0)], "maximize")
    ['c', 'a', 'b']
    """
    sign = 1 if direction == "maximize" else -1
    scored = [trial for trial in trials if math.isfinite(trial[2])]
    ordered = sorted(scored, key=lambda trial: (-trial[1], -sign * trial[2]))
    return [key for key, _, _ in ordered]


def over_seeds(points: Sequence[tuple[int, float]]) -> tuple[int, float]:
    """Return where a trial of several seeds stands: their steps in all, their mean.

    Seeds without a finite value count for neither, so that a trial with fewer seeds never outranks one with more; of
    one seed it is the point itself.

    >>> over_seeds([(60, 55.0), (60, 57.0)]), over_seeds([(60, 55.0), (60, math.nan)])
    ((120, 56.0), (60, 55.0))
    """
    known = [point for point in points if math.isfinite(point[1])]
    if not known:
        return points[0]
    return sum(t for t, _ in known), math.fsum(value for _, value in known) / len(known)
