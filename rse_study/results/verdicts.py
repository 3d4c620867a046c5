"""The four verdicts on a row beside its baseline, and which rows are decided."""

from typing import Literal

import pandas as pd

from rse_study.results.anytime import confidence_sequence
from rse_study.results.comparisons import LEVEL, against, differences
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


def decided_rows(
    table: pd.DataFrame,
    baseline: str,
    margin: float,
    *,
    num_comparisons: int,
    less_is_better: bool = False,
    level: float = LEVEL,
) -> dict[str, RowVerdict]:
    """Return the rows of `table` [rows, seeds] that need no more seeds, by verdict.

    The confidence sequences of row minus `baseline`, paired by seed, hold for `num_comparisons` rows at once
    (Bonferroni) and after any number of looks; `num_comparisons` must be the same at every look. Rows without a seed in
    common with the baseline are undecided.
    """
    shared = 1 - (1 - level) / num_comparisons
    verdicts = {}
    for row, weights in against(table, baseline).items():
        sample = differences(table, weights)
        if len(sample):
            interval = confidence_sequence(sample, shared)
            verdicts[row] = row_verdict(interval, margin, less_is_better=less_is_better)
    return {row: verdict for row, verdict in verdicts.items() if verdict != "undecided"}
