"""The four verdicts on a row beside its baseline."""

from collections.abc import Collection

from rse_study.results.comparing.comparisons import ComparedContrast
from rse_study.results.comparing.criterion import LEVEL, Criterion, RowVerdict
from rse_study.results.statistics import Interval


def verdict_of(one: ComparedContrast) -> RowVerdict:
    """Return the verdict on a contrast by its criterion."""
    return one.criterion.verdict(one.deciding, one.weights)


def is_suggestive(one: ComparedContrast) -> bool:
    """Whether Holm's p disagrees with the deciding interval, and could."""
    return disagrees(one.deciding, one.criterion, one.weights, one.p_holm, one.least_p_holm)


def disagrees(interval: Interval, rule: Criterion, rows: Collection[str], p: float, least_p: float) -> bool:
    """Whether an adjusted exact p contradicts the interval that decides on a difference of these rows.

    `least_p` is the smallest possible one. Never beside a confidence sequence: that p holds for a number of seeds that
    was fixed before.
    """
    is_moot = rule.holds_anytime(rows) or not rule.lost.isdisjoint(rows) or not least_p <= 1 - LEVEL
    if is_moot or rule.verdict(interval) == "same":
        return False
    return interval.excludes(0.0) != (p <= 1 - LEVEL)
