"""The four verdicts on a row beside its baseline."""

from rse_study.results.comparing.comparisons import ComparedContrast
from rse_study.results.comparing.criterion import LEVEL, RowVerdict, row_verdict


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
