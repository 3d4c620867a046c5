"""The four verdicts on a row beside its baseline."""

from typing import Literal

from rse_study.results.comparisons import ComparedContrast
from rse_study.results.criterion import LEVEL
from rse_study.results.statistics import Interval

RowVerdict = Literal["better", "worse", "same", "undecided"]


def row_verdict(interval: Interval, margin: float, *, less_is_better: bool) -> RowVerdict:
    """Return the verdict that the interval of row minus baseline gives.

    Same: the interval lies within `margin` on either side of 0, even if it excludes 0, because so small a difference
    does not matter. Better, worse: it excludes 0. Without a margin (0), only a row that equals its baseline with every
    seed is the same.
    """
    if -margin <= interval.low and interval.high <= margin:
        return "same"
    if not interval.excludes(0.0):
        return "undecided"
    return "better" if (interval.high < 0) == less_is_better else "worse"


def verdict_of(one: ComparedContrast) -> RowVerdict:
    """Return the verdict on a contrast by its criterion."""
    rule = one.criterion
    return row_verdict(one.deciding, rule.margin, less_is_better=rule.less_is_better)


def is_suggestive(one: ComparedContrast) -> bool:
    """Whether Holm's p disagrees with the deciding interval, and could.

    Never beside a confidence sequence: that p holds for a number of seeds that was fixed before.
    """
    if one.criterion.is_anytime or not one.least_p_holm <= 1 - LEVEL or verdict_of(one) == "same":
        return False
    return one.deciding.excludes(0.0) != (one.p_holm <= 1 - LEVEL)
