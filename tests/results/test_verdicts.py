"""Which verdict an interval gives."""

from rse_study.results.statistics import Interval
from rse_study.results.verdicts import row_verdict
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
