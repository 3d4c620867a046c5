"""The four verdicts on a row beside its baseline."""

from rse_study.results.comparing.comparisons import ComparedContrast
from rse_study.results.comparing.criterion import LEVEL, Criterion, RowVerdict
from rse_study.results.statistics import Interval


def verdict_of(one: ComparedContrast) -> RowVerdict:
    """Return the verdict on a contrast by its criterion."""
    return one.criterion.verdict(one.deciding)


def is_suggestive(one: ComparedContrast) -> bool:
    """Whether Holm's p disagrees with the deciding interval, and could."""
    return disagrees(one.deciding, one.criterion, one.p_holm, one.least_p_holm)


def disagrees(interval: Interval, rule: Criterion, p: float, least_p: float) -> bool:
    """Whether an adjusted exact p contradicts the deciding interval.

    `least_p` is the smallest possible one. Never beside a confidence sequence: that p holds for a number of seeds that
    was fixed before.
    """
    if rule.is_anytime or rule.is_lost or rule.verdict(interval) == "same" or not least_p <= 1 - LEVEL:
        return False
    return interval.excludes(0.0) != (p <= 1 - LEVEL)
