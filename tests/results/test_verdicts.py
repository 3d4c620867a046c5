"""Which verdict an interval gives, and which rows need no more seeds."""

import numpy as np
import pandas as pd

from rse_study.results.statistics import Interval
from rse_study.results.verdicts import decided_rows, row_verdict
from tests.cases import cases

NOISE = np.array([0.05, -0.04, 0.02, -0.03, 0.04, -0.05, 0.01, 0.0])


@cases(
    ("low", "high", "margin", "verdict"),
    [
        (0.2, 0.9, 0.5, "better"),
        (-0.9, -0.2, 0.5, "worse"),
        (-0.3, 0.9, 0.5, "undecided"),
        (-0.3, 0.4, 0.5, "same"),
        (0.1, 0.4, 0.5, "same"),  # a difference, too small to matter
        (-0.5, 0.5, 0.5, "same"),
        (0.1, 0.4, 0.0, "better"),
        (0.0, 0.0, 0.0, "same"),
        (0.0, 0.4, 0.0, "undecided"),
        (float("-inf"), float("inf"), 0.5, "undecided"),
    ],
)
def test_an_interval_within_the_margin_says_the_same_and_one_beyond_0_says_which_is_better(
    low, high, margin, verdict
):
    opposite = {"better": "worse", "worse": "better"}.get(verdict, verdict)
    assert row_verdict(Interval(low, high), margin, less_is_better=False) == verdict
    assert row_verdict(Interval(low, high), margin, less_is_better=True) == opposite


def rows(**offsets):
    return pd.DataFrame([NOISE * scale + offset for offset, scale in offsets.values()], index=list(offsets))


def test_rows_are_decided_where_their_confidence_sequence_is():
    table = rows(
        base=(60.0, 0.0), better=(61.0, 1.0), worse=(58.0, 1.0), same=(60.1, 1.0), noisy=(61.0, 60.0)
    )
    found = decided_rows(table, "base", 0.5, num_comparisons=4)
    assert found == {"better": "better", "worse": "worse", "same": "same"}
    assert decided_rows(table.iloc[:, :5], "base", 0.5, num_comparisons=4) == {}


def test_more_comparisons_ask_for_more_seeds():
    table = rows(base=(60.0, 0.0), better=(61.0, 1.0)).iloc[:, :5]
    assert decided_rows(table, "base", 0.5, num_comparisons=1) == {"better": "better"}
    assert decided_rows(table, "base", 0.5, num_comparisons=4) == {}


def test_a_row_that_shares_no_seed_with_the_baseline_is_undecided():
    table = rows(base=(60.0, 0.0), better=(61.0, 1.0))
    table.loc["better"] = np.nan
    assert decided_rows(table, "base", 0.5, num_comparisons=1) == {}
