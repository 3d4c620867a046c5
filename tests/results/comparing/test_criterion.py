import math
from dataclasses import replace

import pandas as pd
import pytest

from rse_study.results.comparing.comparisons import against, compare, row_scores
from rse_study.results.comparing.criterion import (
    UNDEFINED,
    Criterion,
    criterion_of,
    is_finite,
    row_verdict,
    with_outcomes,
)
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import Measure
from rse_study.results.statistics import Interval, confidence_sequence, t_interval
from rse_study.results.study_record import ObjectiveRecord, StudyRecord, margin_of
from tests.analysis import tabled
from tests.cases import cases

ROWS = {"base": (70.0, 73.5, 68.25, 71.0, 72.0), "row": (75.0, 78.1, 73.5, 76.25, 77.0)}
BASE, GAINS = (70.0, 71.0, 69.5, 70.5, 70.2), (0.5, 0.6, 0.4, 0.55, 0.45)
ABOVE = Interval(1.0, 2.0)  # better by any criterion


def frozen(seeds, rows=ROWS):
    study = tabled.study_of(rows, 5, baseline="base")
    return study.model_copy(update={"resolved": study.resolved | {"seeds": seeds}})


def ran(ledger, seeds):
    """Every row with these seeds."""
    for trial, (name, scores) in enumerate(ROWS.items()):
        for seed in seeds:
            tabled.end(ledger, tabled.cell_of(trial, name, seed), scores[seed])


def scores_of(folder):
    with Reader(folder) as reader:
        return row_scores(reader)


FIRST_THREE, ALL_FIVE = [0, 1, 2], [0, 1, 2, 3, 4]


@cases(
    ("revisions", "looked", "why"),
    [
        ([ALL_FIVE], True, "the seeds were chosen before the first result"),
        ([FIRST_THREE, ALL_FIVE], True, "revision 2 added 2 seeds after there were results"),
        ([FIRST_THREE, ALL_FIVE], False, "the seeds were chosen before the first result"),
        ([ALL_FIVE, FIRST_THREE], True, "revision 2 removed 2 seeds after there were results"),
        (
            [FIRST_THREE, [0, 1, 2, 3], [0, 1, 2, 4]],
            True,
            "revision 2 added 1 seed, revision 3 added 1 seed and revision 3 removed 1 seed after there were results",
        ),
        (
            [{"until": "decided", "at_least": 3, "at_most": 16}],
            True,
            "seeds are added until a row is decided",
        ),
    ],
)
def test_seeds_that_change_after_a_result_take_the_criterion_that_allows_looks(
    tmp_path, revisions, looked, why
):
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(frozen(revisions[0]))
        if looked:
            ran(ledger, FIRST_THREE)
        for seeds in revisions[1:]:
            ledger.freeze(frozen(seeds))
        ran(ledger, ALL_FIVE[3:] if looked else ALL_FIVE)
    criterion = scores_of(tmp_path).criterion
    assert criterion.why == why
    assert criterion.is_anytime == (why != "the seeds were chosen before the first result")


@cases(
    ("margins", "looked", "said"),
    [
        ([None, 1], True, " The margin was changed from 0.5 to 1 after there were results."),
        ([None, 1], False, ""),
        ([None, 0.5], True, ""),
        ([2, 1, 0], True, " The margin was changed from 2 to 1 and from 1 to 0 after there were results."),
    ],
)
def test_a_margin_that_changes_after_a_result_is_said_and_leaves_the_interval(
    tmp_path, margins, looked, said
):
    study = frozen(ALL_FIVE)
    with Ledger.open(tmp_path) as ledger:
        for number, margin in enumerate(margins):
            given = {} if margin is None else {"margin": margin}
            ledger.freeze(study.model_copy(update={"resolved": study.resolved | given}))
            if looked and number == 0:
                ran(ledger, FIRST_THREE)
        ran(ledger, ALL_FIVE[3:] if looked else ALL_FIVE)
    criterion = scores_of(tmp_path).criterion
    assert (criterion.name, criterion.margin) == ("fixed", margins[-1])
    first = "Verdicts follow the 95% interval (Student's t): the seeds were chosen before the first result."
    same = f" Differences within ±{margins[-1]:g} count as the same." if margins[-1] else ""
    assert criterion.sentence() == first + same + said
    other = replace(criterion, margin=0.25)  # of a metric in another unit
    assert "changed" not in other.sentence()


def test_seeds_that_are_given_until_rows_are_decided_need_no_revision_to_be_looked_at():
    study = frozen({"until": "decided", "at_least": 3, "at_most": 16})
    criterion = criterion_of(study, pd.DataFrame(), pd.DataFrame(columns=["stage", "status"]))
    assert (criterion.is_anytime, criterion.why) == (True, "seeds are added until a row is decided")


def test_the_criterion_decides_which_interval_gives_the_verdict(tmp_path):
    for name, revisions in (("fixed", [ALL_FIVE]), ("anytime", [FIRST_THREE, ALL_FIVE])):
        with Ledger.open(tmp_path / name) as ledger:
            ledger.freeze(frozen(revisions[0]))
            ran(ledger, FIRST_THREE)
            ledger.freeze(frozen(revisions[-1]))
            ran(ledger, ALL_FIVE[3:])
        scores = scores_of(tmp_path / name)
        assert scores.criterion.name == name
        (one,) = compare(
            scores.table, list(against(scores.table, "base").values()), criterion=scores.criterion
        )
        sample = list(one.by_seed.values())
        expected = (t_interval if name == "fixed" else confidence_sequence)(sample)
        assert one.deciding == expected == scores.criterion.interval(sample)
        assert (one.simultaneous, one.anytime) == (t_interval(sample), confidence_sequence(sample))


LATENCY = Measure(name="latency", metric="builtin/latency/seconds", direction="minimize")
IN_POINTS = Measure(name="own", metric="mine:Own/preset/error", unit="points")
WITH_MARGIN = Measure(name="speed", metric="mine:Speed/preset/seconds", unit="s", margin=0.2)
IN_SECONDS = Measure(name="speed", metric="builtin/speed/accuracy", unit="s")


def of(metric, evaluation="", margin=None, *measures):
    resolved = {} if margin is None else {"margin": margin}
    return StudyRecord(
        name="s",
        objective=ObjectiveRecord(metric=metric, evaluation=evaluation),
        measures=(Measure(name="STS-B", metric="STS-B/test/all"), *measures),
        resolved=resolved,
    )


DEV, LOSS = of("dev", "STS-B/dev/all"), of("loss")


@cases(
    ("study", "metric", "margin"),
    [
        (DEV, "", 0.5),
        (DEV, "STS-B/dev/all", 0.5),
        (DEV, "attack-mr/pwws/success_rate", 0.5),
        (DEV, "MR/full/accuracy - MR/fast/accuracy", 0.5),
        (DEV, "attack-mr/pwws/queries", 0.0),
        (DEV, "STS-B/geometry/uniformity", 0.0),
        (DEV, "cost/work", 0.0),
        (DEV, "mine:Own/preset/error", 0.0),
        (DEV, "mine/own/accuracy_ms", 0.0),
        (of("dev", "", None, LATENCY), LATENCY.metric, 0.0),
        (of("dev", "", 1.5, LATENCY), f"{LATENCY.metric} - {LATENCY.metric}", 0.0),
        (of("dev", "", None, IN_SECONDS), IN_SECONDS.metric, 0.0),
        (of("dev", "", 1.5, IN_POINTS), IN_POINTS.metric, 1.5),
        (of("dev", "", 1.5, WITH_MARGIN), WITH_MARGIN.metric, 0.2),
        (of(WITH_MARGIN.metric, "", None, WITH_MARGIN), "", 0.2),
        (of(WITH_MARGIN.metric, "", 0.7, WITH_MARGIN), "", 0.7),
        (LOSS, "", 0.0),
        (LOSS, "STS-B/test/all", 0.5),
        (of("dev", margin=1.5), "", 1.5),
        (of("dev", margin=0.0), "", 0.0),
        (of("loss", margin=0.01), "", 0.01),
        (of("loss", margin=0.01), "STS-B/test/all", 0.5),
    ],
    ids=lambda case: f"{case[0].objective.metric}, {case[0].resolved}, {case[1]}",
)
def test_a_margin_is_in_points_and_of_other_units_only_where_the_objective_has_them(study, metric, margin):
    assert margin_of(study, metric) == pytest.approx(margin)


def test_measures_of_ledgers_without_units_have_those_of_their_names():
    known = ("STS12/test/all", "MR/fast/accuracy", "ANLI/fine_tuned/mean dev", "attack-mr/pwws/success_rate")
    assert {Measure.model_validate({"name": one, "metric": one}).unit for one in known} == {"points"}
    others = ("STS-B/geometry/alignment", "STS-B/replayed/drift", "builtin/latency/seconds", "m:C/p/accuracy")
    assert {Measure.model_validate({"name": one, "metric": one}).unit for one in others} == {""}
    assert WITH_MARGIN.model_dump()["margin"] == 0.2
    assert "margin" not in IN_SECONDS.model_dump()


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


def test_a_margin_in_a_unit_of_its_own_names_it_and_one_in_points_does_not():
    assert Criterion(margin=0.1, unit="ms").within == " within \N{PLUS-MINUS SIGN}0.1 ms"
    assert Criterion(margin=0.5, unit="points").within == " within \N{PLUS-MINUS SIGN}0.5"
