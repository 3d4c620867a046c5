"""The plan of a search, whose trials nobody has proposed yet, and of what confirms it."""

import random
from dataclasses import replace

import pytest

from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.ablation_path import PathEnd, PathState, Round
from rse_study.search.state import SearchState
from rse_study.study.planning.estimates import Range, exactly
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.plan import plan
from rse_study.study.planning.throughput import Throughput
from tests.study.planning.priced import known, search_of

STEPS = {"N": {"int": [1, 16], "into": ["pgd.num_steps", "fgsm.num_steps"]}}
PLAIN = {"early_stopping": None, "confirm": None, "evaluations": []}


def search_known(trial, number, status="complete", **changes):
    return known(trial, number, 0, stage="search", status=status, **changes)


def trial_with(checked, N):
    return checked.space.apply({"N": N})


def test_a_new_search(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=12, **PLAIN)
    (stage,) = plan(checked, LedgerState(), Throughput(), sizes).stages
    assert (stage.name, stage.num_trials, stage.num_seeds, stage.num_to_run) == ("search", 12, 1, 12)
    assert stage.cost.steps == exactly(12 * 60)
    # The base (N = 5) is the first trial; the others have N = 8.5 on average.
    expected = 60 * (6 + 11 * (8.5 + 1))
    assert stage.cost.gradient_passes.mid == pytest.approx(expected, rel=0.03)


@pytest.mark.parametrize("num_trials", [5, 60])
def test_four_searches_in_five_cost_what_was_told(content, sizes, num_trials):
    checked = search_of(content, num_trials=num_trials, **PLAIN)
    (stage,) = plan(checked, LedgerState(), Throughput(), sizes).stages
    told, draw = stage.cost.gradient_passes, random.Random(1)
    costs = [60 * 6 + sum(60 * (draw.randint(1, 16) + 1) for _ in range(num_trials - 1)) for _ in range(2000)]
    within = sum(told.low <= cost <= told.high for cost in costs) / len(costs)
    assert within == pytest.approx(0.8, abs=0.06)


def test_early_stopping_leaves_less_unless_a_baseline_is_confirmed(content, sizes):
    kept = {**PLAIN, "early_stopping": {"first": 15, "factor": 2}}
    checked = search_of(content, search=STEPS, num_trials=12, **kept)
    (stage,) = plan(checked, LedgerState(), Throughput(), sizes).stages
    assert stage.cost.steps == Range(6 * 60.0, 9 * 60.0, 12 * 60.0)
    checked = search_of(content, search=STEPS, num_trials=12)
    stage = plan(checked, LedgerState(), Throughput(), sizes).stages[0]
    assert stage.cost.steps.low == pytest.approx(60 + 11 * 30)


def test_trials_that_have_ended_are_not_asked_for_again_and_a_stopped_baseline_goes_on(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=6, **PLAIN)
    trials = [trial_with(checked, N) for N in (5, 3, 7, 9)]
    states = ("complete", "stopped_early", "failed", "running")
    cells = [
        search_known(trial, i, state) for i, (trial, state) in enumerate(zip(trials, states, strict=True))
    ]
    (stage,) = plan(checked, LedgerState(tuple(cells)), Throughput(), sizes).stages
    assert (stage.num_done, stage.num_stopped, stage.num_failed, stage.num_to_run) == (1, 1, 1, 3)
    # What was interrupted is known: N = 9.
    assert stage.cost.gradient_passes.mid == pytest.approx(60 * 10 + 2 * 60 * 9.5, rel=0.03)
    checked = search_of(content, search=STEPS, num_trials=1)
    base = search_known(checked.study.base, 0, "stopped_early", t=15)
    stage = plan(checked, LedgerState((base,)), Throughput(), sizes).stages[0]
    assert (stage.num_stopped, stage.num_to_run) == (0, 1)
    assert stage.cost.steps == exactly(45.0)


def test_a_new_confirmation_is_of_two_trials_and_once_the_search_is_over_of_its_own(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=12)
    _, stage = plan(checked, LedgerState(), Throughput(), sizes).stages
    assert (stage.name, stage.num_trials, stage.num_seeds, stage.num_to_run) == ("confirm", 2, 2, 4)
    assert (stage.resources.runs_on, stage.resources.workers) == ("train", 2)
    assert stage.cost.steps == exactly(4 * 60)
    passes = stage.cost.gradient_passes
    assert passes.mid == pytest.approx(2 * 60 * 6 + 2 * 60 * 9.5, rel=0.03)
    # One trial in ten has N <= 2, one in ten N >= 15: both seeds of the best have the same.
    assert passes.low == pytest.approx(2 * 60 * 6 + 2 * 60 * 3, abs=2 * 60)
    assert passes.high == pytest.approx(2 * 60 * 6 + 2 * 60 * 16, abs=2 * 60)
    assert plan(checked, LedgerState(), Throughput(), sizes).scores.missing == {"builtin/test": 4}
    checked = search_of(content, search=STEPS, num_trials=3)
    cells = [search_known(trial_with(checked, N), i) for i, N in enumerate((5, 16, 16))]
    _, stage = plan(checked, LedgerState(tuple(cells)), Throughput(), sizes).stages
    assert stage.cost.gradient_passes == exactly(2 * 60 * 6 + 2 * 60 * 17)


def test_chosen_cells_that_are_confirmed(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=2)
    best, base = trial_with(checked, 16), checked.study.base
    searched = [search_known(base, 0), search_known(best, 1)]
    states = {(base, 1): "complete", (base, 2): "planned", (best, 1): "complete", (best, 2): "planned"}
    confirmed = [
        known(trial, searched[trial == best].number, seed, stage="confirm", status=state)
        for (trial, seed), state in states.items()
    ]
    everything = LedgerState((*searched, *confirmed))
    _, stage = plan(checked, everything, Throughput(), sizes).stages
    assert (stage.num_cells, stage.num_done, stage.num_to_run) == (4, 2, 2)
    assert stage.cost.gradient_passes == exactly(60 * 6 + 60 * 17)
    # Earlier choices are no part of it.
    other = known(trial_with(checked, 2), 9, 1, stage="confirm", retired=True)
    assert (
        plan(checked, replace(everything, cells=(*everything.cells, other)), Throughput(), sizes).stages[1]
        == stage
    )


def test_trials_confirmed_until_decided_are_planned_from_the_least_to_the_most(content, sizes):
    confirm = {"num_best": 2, "seeds": {"until": "decided", "at_least": 3, "at_most": 9}}
    checked = search_of(content, search=STEPS, num_trials=3, confirm=confirm, early_stopping=None)
    planned = plan(checked, LedgerState(), Throughput(), sizes)
    stage = planned.stages[1]
    assert (stage.num_trials, stage.num_cells, stage.num_to_run, stage.num_spared) == (3, 27, 27, 18)
    assert stage.cost.steps == Range(9 * 60.0, 27 * 60.0, 27 * 60.0)
    assert [note for note in planned.notes if "until they are decided" in note]
    # Trial 1 was decided with six seeds, trial 2 has ended six and is not.
    trials = [trial_with(checked, N) for N in (5, 16, 9)]
    cells = [search_known(trial, number) for number, trial in enumerate(trials)]
    cells += [
        known(trial, number, seed, stage="confirm")
        for number, trial in enumerate(trials)
        for seed in range(1, 7)
    ]
    values = {
        number: {seed: 50 + mean + sd * (-1) ** seed for seed in range(1, 7)}
        for number, (mean, sd) in enumerate(((0.0, 0.0), (2.0, 0.1), (0.0, 9.0)))
    }
    rows = RowSeeds(UntilDecided(until="decided", at_least=3, at_most=20), 3, 0, values, first_seed=1)
    record = StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"))
    state = LedgerState(tuple(cells), search=SearchState(record, rows=rows))
    stage = plan(checked, state, Throughput(), sizes).stages[1]
    assert (stage.num_cells, stage.num_done, stage.num_to_run, stage.num_spared) == (9 + 6 + 9, 18, 6, 4)


def test_a_path_counts_on_the_seeds_that_the_confirmation_has_in_any_case(content, sizes):
    confirm = {"seeds": {"until": "decided", "at_least": 3, "at_most": 9}}
    options = {"search": STEPS, "num_trials": 3, "confirm": confirm, "early_stopping": None}
    checked = search_of(content, **options, ablation_path={"seeds": [3, 4]})
    stage = plan(checked, LedgerState(), Throughput(), sizes).stages[2]
    assert (stage.num_shared, stage.num_to_run) == (2, 2)
    assert checked.num_cells == 3 + 2 * 9 + 2


def test_it_is_said_what_stands_for_the_trials_and_how_many_pass_which_rung(content, sizes):
    notes = plan(search_of(content), LedgerState(), Throughput(), sizes).notes
    assert any("until tpe proposes them" in note for note in notes)
    assert any("high: none is stopped" in note for note in notes)

    def notes(**rule):
        return plan(search_of(content, early_stopping=rule), LedgerState(), Throughput(), sizes).notes

    halving = "low: of 16 trials 8 pass step 15, 4 pass step 30; high: none is stopped"
    assert halving in notes(first=15, factor=2)
    assert halving.replace("8", "12.8").replace("4", "8.8") in notes(name="hyperband", first=15, factor=2)
    median = (
        "low: of 16 trials 10.5 pass step 15, 7.75 pass step 30, 6.38 pass step 45; high: none is stopped"
    )
    assert median in notes(name="median", first=15, every=15)


PATH = {"confirm": {"seeds": [1, 2]}, "evaluations": [], "early_stopping": None}


@pytest.mark.parametrize(
    ("path", "points", "cells"),
    [({"seeds": [1, 2, 3]}, 37, 37 * 3 - 4), ({"seeds": [3], "order": "importance"}, 9, 9)],
)
def test_a_path_is_priced_as_if_every_axis_differed(content, sizes, path, points, cells):
    checked = search_of(content, ablation_path=path, **PATH)
    planned = plan(checked, LedgerState(), Throughput(), sizes)
    stage = planned.stages[-1]
    assert (stage.name, stage.num_trials, stage.num_cells, stage.num_to_run) == ("path", points, cells, cells)
    assert sum(one.num_cells for one in planned.stages) == checked.num_cells
    assert stage.cost.steps.mid == cells * 60


def test_a_path_under_way_is_priced_by_what_is_left(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=2, ablation_path={"seeds": [3]}, **PATH)
    base, best = checked.space.base, trial_with(checked, 9)
    ends = [PathEnd(0, "base", {"N": 5}), PathEnd(1, "", {"N": 9})]
    rounds = (Round(frozenset(), ("N",), ""),)
    state = PathState("greedy", (3,), *ends, ("N",), rounds, {frozenset(): (50.0,)})
    cells = (
        search_known(base, 0), search_known(best, 1), known(base, 0, 3, stage="path"),
        known(best, 1, 3, stage="path", status="planned"),
    )  # fmt: skip
    stage = plan(
        checked, LedgerState(cells, search=SearchState(FROZEN, path=state)), Throughput(), sizes
    ).stages[-1]
    assert (stage.num_cells, stage.num_done, stage.num_to_run) == (2, 1, 1)
    assert stage.cost.gradient_passes == exactly(60 * 10)


FROZEN = StudyRecord(name="s", objective=ObjectiveRecord(metric="dev"))


def test_what_the_budget_had_no_room_for_is_not_asked_for(content, sizes):
    checked = search_of(content, search=STEPS, num_trials=6, search_budget={"steps": 150}, **PLAIN)
    cells = [search_known(trial_with(checked, N), i) for i, N in enumerate((5, 3))]
    cells.append(search_known(trial_with(checked, 9), 2, "planned"))
    for steps, num_to_run in ((150, 0), (100, 4)):  # with 100 the file has more by now
        spent = FROZEN.model_copy(
            update={"is_cut_short": True, "resolved": {"search_budget": {"steps": steps}}}
        )
        ended = LedgerState(tuple(cells), search=SearchState(spent))
        assert plan(checked, ended, Throughput(), sizes).stages[0].num_to_run == num_to_run
