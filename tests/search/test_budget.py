"""What ends a search: how much is spent, and what one more cell would bring it to."""

import pytest

from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import Reader
from rse_study.results.records import AttemptRecord, CellRecord
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search import budget as search_budget
from rse_study.search.attempt_spans import device_hours_of, hours_of, spans_of, spans_without_attempts
from rse_study.search.state import SearchState
from tests.cases import cases
from tests.results.world import HERE

NOW = "2026-01-01T12:00:00+00:00"


def attempt(started, ended="", outcome="complete", threads=1):
    day = "2026-01-01T{}:00+00:00"
    return AttemptRecord(
        cell=started, number=1, executor="inline", workers=1, threads=threads,
        started=day.format(started), ended=day.format(ended) if ended else "", outcome=outcome,
    )  # fmt: skip


def on_cpus(at):
    return 0.0


def uses(attempts, gpus=on_cpus):
    spans, longest = spans_of(attempts, NOW, gpus), 1800.0
    return hours_of(spans, longest), device_hours_of(spans, longest)


def test_hours_count_once_and_device_hours_for_each_cell_or_gpu():
    hours, device_hours = uses([attempt("09:00", "09:30"), attempt("09:15", "09:30", threads=4)])
    assert hours == pytest.approx((0.5, 1.0))
    assert device_hours == pytest.approx((0.5 + 4 * 0.25, 1.5 + 4 * 0.5))  # the newest cell held four threads
    _, device_hours = uses([attempt("09:00", "10:00", threads=16)], gpus=lambda at: 0.5)
    assert device_hours.spent == pytest.approx(0.5)
    alone, shared = attempt("08:00", "09:00"), attempt("10:00", "11:00")
    _, device_hours = uses([alone, shared], gpus=lambda at: 1.0 if at < shared.started else 0.2)
    assert device_hours == pytest.approx((1.2, 1.2 + 0.2 * 0.5))


def test_a_running_or_lost_attempt_takes_as_long_as_the_longest_complete_one():
    attempts = [attempt("09:00", "09:30"), attempt("11:50", outcome="running")]
    hours, device_hours = uses(attempts)
    assert hours == pytest.approx((0.5 + 1 / 6, 0.5 + 1 / 6 + 0.5))  # the next one outlasts it
    assert device_hours == pytest.approx((0.5 + 1 / 6, 0.5 + 0.5 + 0.5))
    attempts = [attempt("01:00", "01:30"), attempt("02:00", "11:00", outcome="lost")]
    hours, device_hours = uses(attempts)
    assert hours.spent == device_hours.spent == pytest.approx(1.0)
    spans = spans_of([attempt("01:00", "11:00", outcome="lost")], NOW, on_cpus)
    assert hours_of(spans, 0.0) == device_hours_of(spans, 0.0) == (0.0, 0.0)
    attempts = [attempt("01:00", "01:30"), attempt("02:00", outcome="running")]
    assert hours_of(spans_of(attempts, NOW, on_cpus, is_held=False), 1800.0).spent == pytest.approx(1.0)
    assert hours_of(spans_of(attempts, NOW, on_cpus), 1800.0).spent == pytest.approx(10.5)


def test_cells_of_a_rebuilt_ledger_count_by_their_own_time():
    update = {"ended": "2026-01-01T11:00:00+00:00", "duration_s": 1800.0, "provenance": {"threads": 2}}
    ended = cell(0, "complete").model_copy(update=update)
    spans = spans_without_attempts([ended, cell(1, "planned")], [], NOW, on_cpus)
    assert hours_of(spans, 0.0).spent == pytest.approx(0.5)
    assert device_hours_of(spans, 0.0).spent == pytest.approx(1.0)


def test_what_confirmation_goes_on_with_is_no_longer_the_searchs():
    stopped, goes_on = attempt("01:00", "01:30", "stopped_early"), attempt("05:00", outcome="running")
    attempts = [stopped, goes_on.model_copy(update={"cell": stopped.cell, "number": 2})]
    one = cell(3, "running").model_copy(update={"identity": stopped.cell})
    assert search_budget.attempts_of_search([one], attempts) == [stopped]
    (as_searched,) = search_budget.searched_cells([one], attempts)
    assert as_searched.status == "stopped_early"


def cell(trial, status, stage="search", amount=60):
    identity = f"{trial:02x}" + "c" * 62
    config = {"budget": {"unit": "steps", "amount": amount}}
    return CellRecord(identity=identity, trial=trial, seed=0, stage=stage, config=config, status=status)


def test_steps_count_as_far_as_a_cell_went_and_an_interruption_takes_no_trial_away():
    cells = [cell(0, "complete"), cell(1, "stopped_early"), cell(2, "running"), cell(3, "planned")]
    last = {cells[0].identity: 60, cells[1].identity: 15, cells[2].identity: 30}
    assert search_budget.steps_of(cells, last, 60.0) == (105, 60 + 15 + 60 + 60)
    # Nine steps, three trials of three: killed in the third, that is the next one.
    cells = [cell(0, "complete"), cell(1, "complete"), cell(2, "planned")]
    last = {cells[0].identity: 3, cells[1].identity: 3, cells[2].identity: 2}
    assert search_budget.steps_of(cells, last, 3.0) == (8, 9)


SPENT = (search_budget.BudgetShare(name="steps", limit=200, spent=180, with_next=240),)
STUDY = StudyRecord(
    name="x", objective=ObjectiveRecord(metric="dev"), num_trials=10, num_cells=16,
    resolved={"num_trials": 10, "confirm": {"baseline": "base", "num_best": 2, "seeds": [1, 2]}},
)  # fmt: skip


def test_a_search_that_was_ended_has_the_trials_it_had_room_for():
    cells = [cell(n, "complete") for n in range(3)] + [cell(0, "complete", "confirm")]
    ended = search_budget.shortened(STUDY, [one for one in cells if one.stage == "search"], SPENT)
    assert (ended.num_trials, ended.num_cells) == (3, 9)
    assert search_budget.ended_by(ended, SPENT) == (
        "the search's budget ended it after 3 of at most 10 trials: 180 of 200 optimiser steps spent, 240 with one "
        "more cell"
    )
    base = cell(0, "complete").model_copy(update={"label": "base"})
    ended = search_budget.shortened(STUDY, [base, cell(1, "failed")], SPENT)
    assert (ended.num_trials, ended.num_cells) == (2, 16 - 8 - 2)
    cells = [cell(0, "complete"), cell(1, "planned")]
    assert search_budget.shortened(STUDY, cells, SPENT).num_trials == 1
    given_up = cells[1].model_copy(update={"reason": "out of memory"})
    assert search_budget.shortened(STUDY, [cells[0], given_up], SPENT).num_trials == 2


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
    assert search_budget.shortened(STUDY, cells, shares) is STUDY


def test_the_shares_of_a_ledger(tmp_path):
    settings = {"steps": 150, "cost": 1e6, "price_per_hour": 2.0, "hours": 0}
    base = {"budget": {"unit": "steps", "amount": 60}}
    record = STUDY.model_copy(update={"resolved": {"base": base, "search_budget": settings}})
    with Ledger.open(tmp_path) as ledger:
        ledger.freeze(record)
        for one in (cell(0, "planned"), cell(1, "planned"), cell(0, "planned", "confirm", 999)):
            update = {"identity": "d" * 64, "seed": 1}
            searched = one if one.stage == "search" else one.model_copy(update=update)
            ledger.plan([searched])
            ledger.start(searched.identity, **HERE)
            ledger.record_progress(searched.identity, 45, {"dev": 1.0})
        with Reader(tmp_path) as reader:
            steps, cost = SearchState.read(reader).budget
            assert (steps.name, steps.spent, steps.with_next) == ("steps", 90, 180)
            assert (cost.name, cost.limit) == ("cost", 1e6)
            assert SearchState.read(reader).study.num_trials == 10  # two of its cells run
            assert not steps.has_room
            assert cost.has_room
