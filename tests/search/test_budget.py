"""What ends a search: how much is spent, and what one more cell would bring it to."""

import sqlite3

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord, RungRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search import budget as search_budget
from rse_study.search.state import SearchState
from tests.cases import cases
from tests.results.world import HERE

NOW = "2026-01-01T12:00:00+00:00"
LIMITS = {"steps": 150, "device_hours": 10}
BASE = {"budget": {"unit": "steps", "amount": 60}}


def cell(trial, status, stage="search", amount=60):
    identity = f"{trial:02x}" + "c" * 62
    config = {"budget": {"unit": "steps", "amount": amount}}
    return CellRecord(identity=identity, trial=trial, seed=0, stage=stage, config=config, status=status)


@pytest.fixture
def ledger(tmp_path):
    with Ledger.open(tmp_path) as opened:
        opened.freeze(STUDY.model_copy(update={"resolved": {"base": BASE, "search_budget": LIMITS}}))
        yield opened


def uses(ledger, *, is_held=True):
    """Spent and with one more cell, by limit."""
    shares = search_budget.budget_shares(ledger, NOW, is_held=is_held)
    return {one.name: (one.spent, one.with_next) for one in shares}


def attempts(ledger, *given):
    """Enter an attempt at a cell of its own for each outcome, begin, end (empty: it runs) and number of threads."""
    for number, (outcome, begun, ended, threads) in enumerate(given):
        ledger.plan([cell(number, "planned")])
        ledger.start(cell(number, "planned").identity, executor="inline", workers=1, threads=threads)
        day = [f"2026-01-01T{time}:00+00:00" if time else "" for time in (begun, ended)]
        statement = "UPDATE attempt SET outcome = ?, started = ?, ended = ? WHERE cell = ?"
        edit(ledger, statement, outcome, *day, cell(number, "planned").identity)


def edit(ledger, statement, *values):
    """Times and ends are a run's: tests set them afterwards."""
    with sqlite3.connect(ledger_path(ledger.study_dir)) as connection:
        connection.execute(statement, values)


def test_device_hours_are_those_of_every_thread_and_a_next_cell_takes_as_many_as_the_newest(ledger):
    attempts(ledger, ("complete", "09:00", "09:30", 1), ("complete", "09:15", "09:30", 4))
    assert uses(ledger)["device_hours"] == pytest.approx((0.5 + 4 * 0.25, 1.5 + 4 * 0.5))


def test_gpus_count_instead_of_threads_as_the_run_of_that_time_had_them(ledger):
    for at, gpus in (("07:00", 1), ("09:30", 0.2)):
        ledger.add_provenance({"gpus": gpus})
        newest = "run = (SELECT max(run) FROM provenance)"
        edit(ledger, f"UPDATE provenance SET at = '2026-01-01T{at}:00+00:00' WHERE {newest}")
    attempts(ledger, ("complete", "08:00", "09:00", 16), ("complete", "10:00", "11:00", 16))
    assert uses(ledger)["device_hours"] == pytest.approx((1.2, 1.4))


def test_a_running_attempt_takes_as_long_as_the_longest_complete_one(ledger):
    attempts(ledger, ("complete", "09:00", "09:30", 1), ("running", "11:50", "", 1))
    assert uses(ledger)["device_hours"] == pytest.approx((0.5 + 1 / 6, 0.5 + 0.5 + 0.5))


def test_a_lost_attempt_or_one_that_nobody_runs_counts_for_no_longer_than_that(ledger):
    attempts(
        ledger, ("complete", "01:00", "01:30", 1), ("lost", "02:00", "11:00", 1), ("running", "02:00", "", 1)
    )
    assert uses(ledger, is_held=False)["device_hours"] == pytest.approx((1.5, 2.0))
    assert uses(ledger)["device_hours"] == pytest.approx((11.0, 11.5))


def test_until_an_attempt_has_ended_nothing_is_known(ledger):
    assert uses(ledger) == {"device_hours": (0.0, 0.0), "steps": (0.0, 60.0)}
    attempts(ledger, ("lost", "01:00", "11:00", 1))
    assert uses(ledger)["device_hours"] == (0.0, 0.0)


def test_what_confirmation_goes_on_with_is_no_longer_the_searchs(ledger):
    attempts(ledger, ("stopped_early", "01:00", "01:30", 1))
    stopped = cell(0, "running")
    ledger.record_rung(RungRow(cell=stopped.identity, t=15, value=1.0, verdict="stop"))
    edit(ledger, "UPDATE cell SET status = 'stopped_early'")
    ledger.start(stopped.identity, **HERE)
    ledger.record_progress(stopped.identity, 45, {"dev": 1.0})
    assert uses(ledger) == {"device_hours": (0.5, 1.0), "steps": (15, 75)}
    (as_searched,) = search_budget.searched_cells([stopped], ledger.attempts())
    assert as_searched.status == "stopped_early"


def test_steps_count_as_far_as_a_cell_went_and_an_interruption_takes_no_trial_away(ledger):
    attempts(
        ledger, ("complete", "01:00", "02:00", 1), ("running", "03:00", "", 1), ("lost", "03:00", "04:00", 1)
    )
    done, running, lost = (cell(number, "planned").identity for number in range(3))
    ledger.record_progress(running, 30, {"dev": 1.0})
    ledger.record_progress(lost, 20, {"dev": 1.0})
    edit(ledger, "UPDATE cell SET status = 'complete' WHERE identity = ?", done)
    edit(ledger, "UPDATE cell SET status = 'planned' WHERE identity = ?", lost)
    assert uses(ledger)["steps"] == (60 + 30 + 20, 60 + 60 + 60)  # the interrupted cell is the next one


def ends(ledger, *given):
    """Enter trials that ended with a status and a value of dev."""
    for number, (status, value) in enumerate(given):
        one = cell(number, "planned")
        ledger.plan([one])
        ledger.start(one.identity, **HERE)
        ledger.record_progress(one.identity, 60, {"dev": value})
        edit(ledger, "UPDATE cell SET status = ? WHERE identity = ?", status, one.identity)


@cases(
    ("waited", "trials"),
    [
        (0, []),
        (0, [("complete", 1.0), ("complete", 2.0)]),
        (2, [("complete", 2.0), ("complete", 1.0), ("complete", 2.0)]),
        (1, [("complete", 2.0), ("failed", 3.0), ("running", 3.0), ("stopped_early", 1.0)]),
        (0, [("failed", 2.0), ("failed", 1.0)]),
    ],
    ids=["none yet", "a better one", "a tie", "failed, running and stopped", "none has a value"],
)
def test_patience_counts_trials_with_a_result_after_the_best(waited, trials, tmp_path):
    with Ledger.open(tmp_path) as ledger:
        limits = {"search_budget": {"patience": 2}}
        ledger.freeze(STUDY.model_copy(update={"resolved": {"base": BASE, **limits}}))
        ends(ledger, *trials)
        assert uses(ledger) == {"patience": (waited, waited + 1)}
        assert search_budget.has_room(ledger) is (waited < 2)


def test_a_search_without_a_better_trial_says_what_ended_it(tmp_path):
    limits = {"num_trials": 10, "search_budget": {"patience": 2}}
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY.model_copy(update={"resolved": {"base": BASE, **limits}}))
        ends(ledger, ("complete", 3.0), ("complete", 1.0), ("complete", 2.0))
    with Reader(tmp_path) as reader:
        state = SearchState.read(reader)
    assert state.is_over and state.study.num_trials == 3
    assert "after 3 of at most 10 trials: 2 of 2 trials without a better one spent" in state.reason_of_end


SPENT = (search_budget.BudgetShare(name="steps", limit=200, spent=180, with_next=240),)
STUDY = StudyRecord(
    name="x", objective=ObjectiveRecord(metric="dev"), num_trials=10, num_cells=16,
    resolved={"num_trials": 10, "confirm": {"baseline": "base", "num_best": 2, "seeds": [1, 2]}},
)  # fmt: skip


def test_a_search_that_was_ended_has_the_trials_it_had_room_for():
    cells = [cell(n, "complete") for n in range(3)] + [cell(0, "complete", "confirm")]
    ended = search_budget.as_far_as_it_went(STUDY, [one for one in cells if one.stage == "search"], SPENT)
    assert (ended.num_trials, ended.num_cells) == (3, 9)
    assert search_budget.ended_by(ended, SPENT) == (
        "the search's budget ended it after 3 of at most 10 trials: 180 of 200 optimiser steps spent, 240 with one "
        "more cell"
    )
    base = cell(0, "complete").model_copy(update={"label": "base"})
    ended = search_budget.as_far_as_it_went(STUDY, [base, cell(1, "failed")], SPENT)
    assert (ended.num_trials, ended.num_cells) == (2, 16 - 8 - 2)
    cells = [cell(0, "complete"), cell(1, "planned")]
    assert search_budget.as_far_as_it_went(STUDY, cells, SPENT).num_trials == 1
    given_up = cells[1].model_copy(update={"reason": "out of memory"})
    assert search_budget.as_far_as_it_went(STUDY, [cells[0], given_up], SPENT).num_trials == 2


def test_limits_of_earlier_versions_in_hours_and_money_still_end_their_search(tmp_path):
    limits = {"hours": 1, "cost": 5, "price_per_hour": 2.5}
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(STUDY.model_copy(update={"resolved": {"base": BASE, "search_budget": limits}}))
        twice = ("complete", "09:00", "09:30", 1), ("complete", "09:15", "09:45", 1)
        attempts(ledger, *twice, ("lost", "11:00", "12:00", 1))
        assert uses(ledger) == {"device_hours": (1.5, 2.0), "hours": (1.25, 1.75)}
        money, hours = search_budget.budget_shares(ledger, NOW)
        assert (money.limit, money.has_room, hours.has_room) == (2.0, True, False)


@cases(
    ("cells", "shares"),
    [
        ([cell(0, "complete"), cell(1, "running")], SPENT),
        ([cell(n, "complete") for n in range(10)], SPENT),
        ([cell(0, "complete")], (SPENT[0].model_copy(update={"limit": 240}),)),
        ([cell(0, "complete")], ()),
    ],
    ids=["one runs", "all ran", "one more fits exactly", "no budget"],
)
def test_a_search_that_was_not_ended_keeps_its_plan(cells, shares):
    assert search_budget.as_far_as_it_went(STUDY, cells, shares) is STUDY


def test_the_limits_of_a_ledger_say_whether_there_is_room(ledger, tmp_path):
    for one in (cell(0, "planned"), cell(1, "planned"), cell(0, "planned", "confirm", 999)):
        update = {"identity": "d" * 64, "seed": 1}
        searched = one if one.stage == "search" else one.model_copy(update=update)
        ledger.plan([searched])
        ledger.start(searched.identity, **HERE)
        ledger.record_progress(searched.identity, 45, {"dev": 1.0})
    with Reader(tmp_path) as reader:
        steps, device_hours = SearchState.read(reader).budget
        assert (steps.name, steps.spent, steps.with_next) == ("steps", 90, 180)
        assert (device_hours.name, device_hours.limit) == ("device_hours", 10)
        assert SearchState.read(reader).study.num_trials == 10  # two of its cells run
        assert (steps.has_room, device_hours.has_room) == (False, True)
    assert not search_budget.has_room(ledger)
