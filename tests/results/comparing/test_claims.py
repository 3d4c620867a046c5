"""Every kind of claim and every verdict. What the verdict must be follows from a quantile of Student's t."""

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from rse_study.results.comparing.claims import Claim, contrasts_of, judge
from rse_study.results.comparing.comparisons import Scores
from tests.cases import cases
from tests.results.samples import around, half_width

SEEDS = 5
MARGIN = 2.0
BASE = np.array([70.0, 73.5, 68.25, 71.0, 74.75])  # what the seeds share: pairing takes it out
ROWS = {
    "best": 3,
    "better": 2,
    "ordering": 3,
    "rising": 3,
    "flat": 3,
}  # share and count have tests of their own
NUM_CONTRASTS = {"best": 2, "better": 1, "ordering": 2, "rising": 1, "flat": 2}
NAMES = "abcdef"


def claim_of(kind, rows=None, margin=0.0, **changes):
    rows = tuple(NAMES[: ROWS[kind]]) if rows is None else tuple(rows)
    content = {"id": f"t-{kind}", "table": "t", "says": "so it is", "source": "p.txt:1", **changes}
    return Claim(kind=kind, rows=rows[:1] if kind == "best" else rows, margin=margin, **content)


def frame(rows, still_open=(), unplanned=0):
    """Scores [rows, seeds] as they come from a ledger."""
    table = pd.DataFrame.from_dict(rows, orient="index", columns=range(len(next(iter(rows.values())))))
    return Scores(table, open_rows=tuple(still_open), num_unplanned=unplanned)


def without(scores, rows):
    return replace(scores, table=scores.table.drop(index=rows))


def scores_with(kind, means, n=SEEDS, **attrs):
    """Rows a, b, c whose contrasts, those the kind of claim comes down to, have these means and an SD of 1."""
    gains = [around(mean, n) for mean in means]
    a = BASE[:n]
    rows = {
        "best": lambda: [a, *(a - gain for gain in gains)],
        "better": lambda: [a, a - gains[0]],
        "ordering": lambda: [a, a - gains[0], a - gains[0] - gains[1]],
        "rising": lambda: [a, a + gains[0] / 2, a + gains[0]],  # a straight line, from end to end the gain
        "flat": lambda: [a, *(a + gain for gain in gains)],
    }[kind]()
    return frame(dict(zip(NAMES, rows, strict=False)), **attrs)


def verdict_on(claim, scores, baseline=""):
    (judged,) = judge([claim], scores, [baseline])
    return judged.verdict


def table(**means):
    """Scores by row whose differences have an SD of 1 at most."""
    spread = {
        row: BASE * 0 + mean + around(0.0, SEEDS)[::-1] * (0.5 * number)
        for number, (row, mean) in enumerate(means.items())
    }
    return frame(spread)


@cases(
    ("rows", "less_is_better", "verdict"),
    [
        (dict(a=30.0, b=75.0), True, "reproduced"),
        (dict(a=45.0, b=75.0), True, "contradicted"),
        (dict(a=37.5, b=75.0), True, "undecided"),
        (dict(a=30.0), True, "not asked"),
        (dict(a=45.0, b=75.0), False, "reproduced"),
    ],
)
def test_a_share_is_of_the_second_row(rows, less_is_better, verdict):
    scores = replace(table(**rows), less_is_better=less_is_better)
    assert verdict_on(claim_of("share", "ab", 0.5), scores) == verdict


WON, LOST, OPEN = dict(a=80.0, b=70.0, c=72.0), dict(a=60.0, b=70.0, c=50.0), dict(a=70.1, b=70.0, c=50.0)


@cases(
    ("columns", "verdict", "in_columns"),
    [
        ([WON, WON, LOST], "reproduced", ("reproduced", "reproduced", "contradicted")),
        ([WON, OPEN, LOST], "undecided", ("reproduced", "undecided", "contradicted")),
        ([WON, LOST, LOST], "contradicted", ("reproduced", "contradicted", "contradicted")),
        ([WON, WON], "not asked", ()),  # a column is not measured
        ([WON, WON, dict(b=70.0, c=72.0)], "not asked", ("reproduced", "reproduced", "not asked")),
    ],
)
def test_a_count_is_of_columns_in_which_the_first_row_beats_the_others_named(columns, verdict, in_columns):
    claim = claim_of("count", "ab", 2.0, columns=("one", "two", "three"))
    measured = dict(zip(claim.columns, (table(**rows) for rows in columns), strict=False))
    (judged,) = judge([claim], table(**LOST), measured=measured)
    assert (judged.verdict, judged.in_columns) == (verdict, in_columns)
    # c is ahead of b where it is not named, and decides nothing.
    assert {row for one in judged.compared for row in one.weights} <= {"a", "b"}


def test_a_claim_about_every_column_needs_all_that_are_measured_and_without_any_the_objective():
    claim = claim_of("better", "ab", columns=("one", "two"))
    won, lost = table(**WON), table(**LOST)
    found = [
        judge([claim], lost, measured=measured)[0].verdict
        for measured in ({"one": won, "two": won}, {"one": won, "two": lost}, {"one": won}, {"other": won})
    ]
    assert found == ["reproduced", "contradicted", "reproduced", "contradicted"]


JUST_BEYOND, JUST_WITHIN = 1.01, 0.99
ONE_SIDED = [
    # what the contrasts' means are, in half widths of their intervals
    *((kind, [JUST_BEYOND], "reproduced") for kind in ("better", "rising")),
    *(
        (kind, [half], "undecided")
        for kind in ("better", "rising")
        for half in (JUST_WITHIN, 0.0, -JUST_WITHIN)
    ),
    *((kind, [-JUST_BEYOND], "contradicted") for kind in ("better", "rising")),
    *(
        (kind, means, verdict)
        for kind in ("best", "ordering")
        for means, verdict in (
            ([JUST_BEYOND, JUST_BEYOND], "reproduced"),
            ([JUST_BEYOND, JUST_WITHIN], "undecided"),
            ([-JUST_WITHIN, JUST_BEYOND], "undecided"),
            ([JUST_BEYOND, -JUST_BEYOND], "contradicted"),
            ([-JUST_BEYOND, JUST_WITHIN], "contradicted"),
            ([-JUST_BEYOND, -JUST_BEYOND], "contradicted"),
        )
    ),
]


@cases("margin", [0.0, MARGIN])
@cases(("kind", "halves", "verdict"), ONE_SIDED)
def test_a_direction_is_judged_by_the_interval(kind, halves, verdict, margin):
    width = half_width(SEEDS, NUM_CONTRASTS[kind])
    scores = scores_with(kind, [margin + half * width for half in halves])
    assert verdict_on(claim_of(kind, margin=margin), scores) == verdict


WIDTH_OF_FLAT = half_width(SEEDS, 2)
FLAT = [
    ([0.0, 0.0], 1.01 * WIDTH_OF_FLAT, "reproduced"),
    ([0.0, 0.0], 0.99 * WIDTH_OF_FLAT, "undecided"),
    ([0.5, -0.5], 0.51 + WIDTH_OF_FLAT, "reproduced"),
    ([0.5, -0.5], 0.49 + WIDTH_OF_FLAT, "undecided"),
    ([MARGIN + 0.99 * WIDTH_OF_FLAT, 0.0], MARGIN, "undecided"),
    ([MARGIN + 1.01 * WIDTH_OF_FLAT, 0.0], MARGIN, "contradicted"),
    ([0.0, -MARGIN - 1.01 * WIDTH_OF_FLAT], MARGIN, "contradicted"),
    ([0.0, -MARGIN - 0.99 * WIDTH_OF_FLAT], MARGIN, "undecided"),
]


@cases(("means", "margin", "verdict"), FLAT)
def test_flat_is_within_the_margin_on_either_side(means, margin, verdict):
    assert verdict_on(claim_of("flat", margin=margin), scores_with("flat", means)) == verdict


@cases("kind", ROWS)
def test_nothing_is_judged_before_its_cells_have_run(kind):
    """A result that would be clear either way: it is not looked at."""
    for row in NAMES[: ROWS[kind]]:
        for mean in (50.0, -50.0):
            scores = scores_with(kind, [mean] * NUM_CONTRASTS[kind], still_open=[row])
            assert verdict_on(claim_of(kind, margin=1.0), scores) == "incomplete"


@cases("kind", ROWS)
def test_a_claim_about_rows_that_are_not_there_is_not_asked(kind):
    scores = frame({"x": BASE, "y": BASE + 1})
    (judged,) = judge([claim_of(kind)], scores)
    assert (judged.verdict, judged.compared) == ("not asked", ())


def test_the_best_row_and_what_all_are_compared_with_must_be_there():
    scores = scores_with("best", [50.0, 50.0])
    assert verdict_on(claim_of("best"), without(scores, "a")) == "not asked"
    assert verdict_on(claim_of("best"), without(scores, ["b", "c"])) == "not asked"
    assert verdict_on(claim_of("best"), without(scores, "b")) == "reproduced"
    scores = scores_with("flat", [0.0, 0.0])
    claim = claim_of("flat", margin=10.0)
    assert verdict_on(claim, without(scores, "b")) == "reproduced"
    assert verdict_on(claim, without(scores, "a")) == "not asked"
    # a > b > c says a > c, too.
    scores = without(scores_with("ordering", [50.0, -10.0]), "b")
    assert verdict_on(claim_of("ordering"), scores) == "reproduced"


def test_what_failed_in_one_row_stays_in_other_contrasts_and_three_seeds_can_decide():
    assert verdict_on(claim_of("better"), scores_with("better", [1.01 * half_width(3)], n=3)) == "reproduced"
    assert verdict_on(claim_of("better"), scores_with("better", [0.99 * half_width(3)], n=3)) == "undecided"
    scores = scores_with("best", [50.0, 50.0])
    scores.table.loc["c", 0] = math.nan
    (judged,) = judge([claim_of("best")], scores)
    assert [one.n for one in judged.compared] == [5, 4]


@pytest.mark.parametrize("kind", ["best", "ordering"])
def test_a_contradiction_wins_over_what_nobody_can_tell(kind):
    """The last row failed with all seeds but one; that the first is beaten by the second stands all the same."""
    scores = scores_with(kind, [-50.0, 50.0])
    scores.table.loc["c", 1:] = math.nan
    (judged,) = judge([claim_of(kind)], scores)
    assert judged.compared[1] is None
    assert judged.verdict == "contradicted"


def test_intervals_hold_for_all_claims_that_are_asked_at_once():
    """What is enough for one claim alone is not beside another."""
    alone, together = half_width(SEEDS), half_width(SEEDS, 2)
    scores = scores_with("better", [(alone + together) / 2])
    claims = [claim_of("better", id="one"), claim_of("better", id="other")]
    assert [judged.verdict for judged in judge(claims[:1], scores)] == ["reproduced"]
    assert [judged.verdict for judged in judge(claims, scores)] == ["undecided", "undecided"]
    scores = scores_with("better", [1.01 * half_width(SEEDS)])
    claims = [claim_of("better", rows=["x", "y"]), claim_of("better")]
    assert [judged.verdict for judged in judge(claims, scores)] == ["not asked", "reproduced"]


def test_the_baseline_takes_no_part_in_best_and_holds_up_no_claim_about_it():
    """The paper's table does not have it."""
    scores = frame({"a": BASE, "b": BASE - around(50.0, SEEDS), "SimCSE": BASE + around(50.0, SEEDS)})
    assert verdict_on(claim_of("best"), scores, baseline="SimCSE") == "reproduced"
    assert verdict_on(claim_of("best"), scores) == "contradicted"
    scores = frame({"a": BASE, "b": BASE - around(50.0, SEEDS), "SimCSE": BASE}, still_open=["SimCSE"])
    assert verdict_on(claim_of("best"), scores, baseline="SimCSE") == "reproduced"
    scores = frame({"a": BASE, "b": BASE - around(50.0, SEEDS), "c": BASE}, still_open=["c"])
    assert verdict_on(claim_of("better"), scores) == "reproduced"


@cases("num_rows", [2, 3, 4, 5, 6])
def test_the_trend_is_the_line_of_least_squares_from_its_first_to_its_last_row(num_rows):
    names = list(NAMES[:num_rows])
    values = np.random.default_rng(num_rows).normal(70.0, 5.0, size=num_rows)
    (weights,) = contrasts_of(claim_of("rising", rows=names), frame({name: [0.0] for name in names}))
    slope, _ = np.polyfit(np.arange(num_rows), values, 1)
    found = sum(weights[name] * value for name, value in zip(names, values, strict=True))
    assert found == pytest.approx(slope * (num_rows - 1))
    assert sum(weights.values()) == pytest.approx(0.0)
