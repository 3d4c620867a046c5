"""What became of a row's seeds, and what is said and decided because of it."""

import math

import pandas as pd
import pytest

from rse_study.results.comparing.criterion import UNDEFINED, Criterion, is_finite, with_outcomes
from rse_study.results.statistics import Interval
from tests.cases import cases

BASE, GAINS = (70.0, 71.0, 69.5, 70.5, 70.2), (0.5, 0.6, 0.4, 0.55, 0.45)
ABOVE = Interval(1.0, 2.0)  # better by any criterion


def rule_for(*changes, margin=0.5, **more):
    """Rows `base` and `row` on five seeds, with changes of single cells: (row, seed, what becomes of it)."""
    rows = {"base": BASE, "row": tuple(one + gain for one, gain in zip(BASE, GAINS, strict=True))}
    lines = [
        {"row": row, "seed": seed, "status": "complete", "value": value, "degenerate": False}
        for row, values in (rows | more).items()
        for seed, value in enumerate(values)
    ]
    cells = pd.DataFrame(lines).set_index(["row", "seed"], drop=False)
    for row, seed, change in changes:
        cells.loc[(row, seed), list(change)] = list(change.values())
    return with_outcomes(Criterion(margin=margin), cells.reset_index(drop=True), "base")


FAILED, BARE = {"status": "failed", "value": math.nan}, {"status": UNDEFINED, "value": math.nan}
COLLAPSED = {"degenerate": True, "value": 69.9}


def test_seeds_that_all_ended_well_change_nothing():
    rule = rule_for()
    assert (rule.lost, rule.waiting, rule.assumption) == ({}, frozenset(), "")
    assert rule.on(("row", "base")).verdict(ABOVE) == "better"


@cases(
    ("changes", "said"),
    [
        ([("row", 3, FAILED), ("row", 4, FAILED)], "row failed with seeds 3 and 4"),
        ([("row", 2, BARE)], "row has no finite score with seed 2"),
        ([("base", 0, FAILED)], "base failed with seed 0"),
        ([("row", 1, BARE | {"degenerate": True})], "row collapsed with seed 1"),
        (
            [("row", 0, FAILED), ("row", 1, BARE)],
            "row failed with seed 0 and has no finite score with seed 1",
        ),
        ([("row", seed, BARE) for seed in range(5)], "row has no finite score with seeds 0, 1, 2, 3 and 4"),
    ],
)
def test_nothing_is_decided_by_the_seeds_that_are_left(changes, said):
    rule, row = rule_for(*changes), changes[0][0]
    for interval in (ABOVE, Interval(-2.0, -1.0), Interval(-0.1, 0.1)):
        assert rule.on(("row", "base")).verdict(interval) == "undecided"
    assert rule.on(("another", "one more")).verdict(ABOVE) == "better"
    assert rule.assumption == (
        f"Verdicts assume that no seed fails or collapses, but {said}. Of {row} nothing is decided by the other seeds "
        "alone."
    )


def test_a_baseline_that_fails_with_a_seed_that_a_row_never_had_leaves_it_decided():
    """As where rows get seeds until they are decided."""
    rule = rule_for(("base", 4, FAILED), other=BASE[:4])
    assert rule.on(("row", "base")).verdict(ABOVE) == "undecided"
    assert rule.on(("other", "base")).verdict(ABOVE) == "better"


@cases(
    ("changes", "said"),
    [
        ([("row", 1, COLLAPSED)], "row collapsed with seed 1."),
        ([("row", 4, {"value": BASE[4] - 9.5})], "row lies 9.9 away from its other seeds with seed 4."),
        ([("base", 4, {"value": BASE[4] - 9.5})], "row lies 9.35 away from its other seeds with seed 4."),
        ([("row", seed, COLLAPSED) for seed in range(5)], ""),
        ([("row", 4, {"value": BASE[4] - 3.0})], ""),  # less than ten margins
    ],
)
def test_a_seed_that_has_collapsed_or_lies_far_away_is_named_and_counts(changes, said):
    rule = rule_for(*changes)
    assert rule.assumption.removeprefix("Verdicts assume that no seed fails or collapses, but ") == said
    assert rule.on(("row", "base")).verdict(ABOVE) == "better"


def test_in_a_unit_without_a_margin_no_seed_is_far_from_the_others():
    assert rule_for(("row", 4, {"value": 0.0}), margin=0.0).assumption == ""


def test_rows_that_wait_for_a_cell_have_the_confidence_sequence_and_the_others_the_t_interval():
    rule = rule_for(("row", 4, {"status": "planned", "value": math.nan}), other=BASE)
    assert rule.waiting == {"row"}
    sample = GAINS[:4]
    assert rule.on(("row", "base")).interval(sample, 2) == Criterion(is_anytime=True).interval(sample, 2)
    assert rule.on(("other", "base")).interval(sample, 2) == Criterion().interval(sample, 2)
    assert [rule.on((row, "base")).so_far for row in ("row", "other")] == [" so far", ""]
    assert "looks: some cells are still to run" not in rule.sentence()
    assert (
        rule.on(("row", "base"))
        .sentence()
        .endswith(
            "some cells are still to run or to be scored. Differences "
            "within \N{PLUS-MINUS SIGN}0.5 count as the same."
        )
    )
    assert "So far, rows with cells still to run follow the 95% confidence sequence" in rule.sentence()
    assert "So far" not in rule_for().sentence()


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e200])
def test_what_cannot_be_squared_and_summed_is_no_score(value):
    assert is_finite(pd.Series([value, 70.0])).tolist() == [False, True]
