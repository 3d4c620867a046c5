"""Which interval decides a study's verdicts, and the margin of each of its measures."""

from dataclasses import replace

import pandas as pd
import pytest

from rse_study.results.comparing.comparisons import against, compare, row_scores
from rse_study.results.comparing.criterion import criterion_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import Measure
from rse_study.results.statistics import confidence_sequence, t_interval
from rse_study.results.study_record import ObjectiveRecord, StudyRecord, margin_of
from tests.analysis import tabled
from tests.cases import cases

ROWS = {"base": (70.0, 73.5, 68.25, 71.0, 72.0), "row": (75.0, 78.1, 73.5, 76.25, 77.0)}


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
