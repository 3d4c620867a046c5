"""Which verdict an interval gives."""

from dataclasses import replace

import pandas as pd

from rse_study.results.comparing.comparisons import compare
from rse_study.results.comparing.criterion import Criterion, row_verdict
from rse_study.results.statistics import Interval
from tests.cases import cases


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


def test_the_p_of_a_fixed_number_of_seeds_makes_nothing_suggestive_beside_a_confidence_sequence():
    table = pd.DataFrame([[0.1, 0.2, 0.1, 0.3, 0.2, 0.1, 9.0]], index=["gain"])
    (one,) = compare(table, [{"gain": 1.0}])
    assert one.verdict == "undecided" and one.p_holm < 0.05
    assert one.is_suggestive
    looked = replace(one, criterion=Criterion(is_anytime=True))
    assert looked.verdict == "undecided"
    assert not looked.is_suggestive
