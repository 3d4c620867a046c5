"""The plan: what is left of a study, and what that comes to."""

from dataclasses import replace

import pytest

from rse_study.errors import InputError, OverBudget
from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.settings import UntilDecided
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.search.state import SearchState
from rse_study.study.planning.estimates import Range, exactly
from rse_study.study.planning.footprint import footprint
from rse_study.study.planning.ledger_state import LedgerState
from rse_study.study.planning.plan import check_allowance, plan
from rse_study.study.planning.throughput import Throughput
from tests.cases import cases
from tests.study.planning.priced import grid_of, known, one_second

RHOS = {"axes": {"rho": [0, 0.5, 1]}}
FIVE = 48 * 60 + 4 * 50  # work of a cell with N = 5: 60 steps, four looks at 400 pairs in batches of 32
TWO_SEEDS = {"seeds": [0, 1]}
SOME = {"name": "some", "objective": ObjectiveRecord(metric="dev"), "kind": "grid"}


@pytest.fixture
def grid(content):
    return grid_of(content, RHOS, **TWO_SEEDS)


def only_stage(planned):
    (stage,) = planned.stages
    return stage


def counts(stage):
    return (stage.num_cells, stage.num_done, stage.num_stopped, stage.num_failed, stage.num_to_run)


def complete(checked, seeds=(0, 1), **changes):
    return tuple(
        known(row.trial, number, seed, **changes) for number, row in enumerate(checked.rows) for seed in seeds
    )


def test_a_new_grid_runs_every_seed_of_every_row_and_hours_are_unknown_without_history(grid, sizes):
    planned = plan(grid, LedgerState(), Throughput(), sizes)
    stage = only_stage(planned)
    assert (stage.num_trials, stage.num_seeds, *counts(stage)) == (3, 2, 6, 0, 0, 0, 6)
    assert stage.cost.steps == exactly(6 * 60)
    assert stage.cost.gradient_passes == exactly(6 * 60 * 6)
    assert stage.cost.work == exactly(6 * FIVE)
    assert planned.new == {}
    assert planned.device_hours is None
    assert planned.price is None
    assert planned.source == ""
    assert planned.footprint == footprint(grid, 6, sizes)


UNTIL = {"until": "decided", "at_least": 3, "at_most": 9}
BASELINE = {**RHOS, "baseline": "rho = 0"}


def test_rows_that_get_seeds_until_decided_are_planned_from_the_least_to_the_most(content, sizes):
    checked = grid_of(content, BASELINE, seeds=UNTIL)
    planned = plan(checked, LedgerState(), one_second(checked.study.base), sizes)
    stage, hours = only_stage(planned), planned.device_hours
    assert counts(stage) == (27, 0, 0, 0, 27)
    assert stage.num_spared == 18
    assert stage.cost.steps == Range(9 * 60, 27 * 60, 27 * 60)
    assert hours.high == hours.mid == pytest.approx(3 * hours.low)
    assert [note for note in planned.notes if "until they are decided" in note]
    with pytest.raises(OverBudget):  # by the most, as long as nothing is decided
        check_allowance(planned, hours.mid - 1e-9, 0.0)


def test_a_decided_row_spares_its_other_seeds_and_the_bounds_are_those_of_the_file(content, sizes):
    """rho = 0.5 was decided with six seeds, rho = 1 has ended six and is not."""
    checked = grid_of(content, BASELINE, seeds=UNTIL)
    pairs = zip((0.0, 2.0, 0.0), (0.0, 0.1, 9.0), strict=True)
    values = {
        trial: {seed: 50 + mean + sd * (-1) ** seed for seed in range(6)}
        for trial, (mean, sd) in enumerate(pairs)
    }
    rows = RowSeeds(UntilDecided(until="decided", at_least=3, at_most=20), 3, 0, values)
    state = LedgerState(complete(checked, range(6)), search=SearchState(StudyRecord(**SOME), rows=rows))
    planned = plan(checked, state, Throughput(), sizes)
    stage = only_stage(planned)
    assert (*counts(stage), stage.num_spared) == (9 + 6 + 9, 18, 0, 0, 6, 4)
    assert planned.new == {"rho = 0": [6], "rho = 1": [6]}
    lower = plan(grid_of(content, BASELINE, seeds=UNTIL | {"at_most": 5}), state, Throughput(), sizes)
    assert counts(only_stage(lower)) == (15, 15, 0, 0, 0)


def test_what_finding_the_replayed_set_may_take_is_said(content, sizes):
    replayed = {"recipe": "pwws", "num_pairs": 40, "max_queries": 1500}
    asked = [{}, replayed, {**replayed, "labelled": "builtin", "num_texts": 30}]
    found = []
    for settings in asked:
        checked = grid_of({**content, "base": {**content["base"], "replayed": settings}}, RHOS)
        notes = plan(checked, LedgerState(), Throughput(), sizes).notes
        found.append([note for note in notes if "replayed set" in note])
    notes = plan(checked, LedgerState(complete(checked, (0,))), Throughput(), sizes).notes
    assert found[0] == [] == [note for note in notes if "replayed" in note]
    assert "at most 40 pairs x 1,500 queries of its reference" in found[1][0]
    assert "at most 40 pairs x 1,500 queries and 30 texts x 1,500 queries of its reference" in found[2][0]


def test_hours_and_price_are_of_every_device_of_a_cell_and_of_all_attempts(content, sizes):
    grid = grid_of(content, RHOS, allowance={"price_per_hour": 3.0}, **TWO_SEEDS)
    planned = plan(grid, LedgerState(), one_second(grid.study.base), sizes)
    hours = 6 * (FIVE + 1) / 3600  # 1 s a cell beside its training
    assert planned.device_hours.mid == pytest.approx(hours)
    assert planned.price.mid == pytest.approx(3 * hours)
    assert planned.source == "a test"
    grid = grid_of(content, RHOS, resources={"executor": "inline", "threads": 4})
    rates = one_second(grid.study.base)
    timed = tuple(replace(t, setting=replace(t.setting, threads=4)) for t in rates.timed)
    rates = replace(rates, timed=timed)
    expected = pytest.approx(4 * 3 * (FIVE + 1) / 3600)
    assert plan(grid, LedgerState(), rates, sizes).device_hours.mid == expected
    spent = LedgerState((), device_seconds=7200.0)
    assert plan(grid_of(content, RHOS), spent, Throughput(), sizes).spent_hours == 2.0


def test_an_added_row_or_seed_runs_and_nothing_else(grid, sizes, content):
    planned = plan(grid, LedgerState(complete(grid)), Throughput(), sizes)
    assert counts(only_stage(planned)) == (6, 6, 0, 0, 0)
    assert planned.device_hours == exactly(0.0)
    assert planned.new == {}
    larger = grid_of(content, {"axes": {"rho": [0, 0.5, 0.75, 1]}}, **TWO_SEEDS)
    planned = plan(larger, LedgerState(complete(grid)), Throughput(), sizes)
    assert counts(only_stage(planned)) == (8, 6, 0, 0, 2)
    assert planned.new == {"rho = 0.75": [0, 1]}
    larger = grid_of(content, RHOS, seeds=[0, 1, 2])
    planned = plan(larger, LedgerState(complete(grid)), Throughput(), sizes)
    assert counts(only_stage(planned)) == (9, 6, 0, 0, 3)
    assert set(map(tuple, planned.new.values())) == {(2,)}


def test_an_added_evaluation_trains_nothing_but_what_was_not_kept(content, grid, sizes):
    larger = grid_of(content, RHOS, evaluations=["builtin/test"], **TWO_SEEDS)
    planned = plan(larger, LedgerState(complete(grid)), one_second(grid.study.base), sizes)
    assert only_stage(planned).num_to_run == 0
    assert planned.scores.missing == {"builtin/test": 6}
    assert (planned.scores.num_models, planned.scores.num_only, planned.scores.num_retrained) == (6, 6, 0)
    assert planned.device_hours.mid == pytest.approx(6 * (50 + 1) / 3600)
    cells = complete(grid, scored=frozenset({"builtin/test"}))
    cells = (*cells[:-1], replace(cells[-1], scored=frozenset({"STS-B/test"})))
    planned = plan(larger, LedgerState(cells), Throughput(), sizes)
    assert planned.scores.missing == {"builtin/test": 1}
    cells = complete(grid)
    cells = (*cells[:-1], replace(cells[-1], has_model=False))
    planned = plan(larger, LedgerState(cells), one_second(grid.study.base), sizes)
    assert planned.scores.num_retrained == 1
    assert planned.device_hours.mid == pytest.approx((6 * (50 + 1) + FIVE + 1) / 3600)


def test_a_row_that_comes_back_has_its_results_unless_another_cell_took_its_place(grid, sizes):
    cells = tuple(replace(cell, retired=True) for cell in complete(grid))
    assert only_stage(plan(grid, LedgerState(cells), Throughput(), sizes)).num_to_run == 0
    # Its data changed: the new one has not run.
    old = tuple(replace(cell, retired=True) for cell in complete(grid))
    new = tuple(replace(cell, status="planned") for cell in complete(grid))
    assert only_stage(plan(grid, LedgerState((*new, *old)), Throughput(), sizes)).num_to_run == 6
    assert only_stage(plan(grid, LedgerState((*old, *new)), Throughput(), sizes)).num_to_run == 6
    cells = complete(grid)
    states = ("complete", "failed", "running", "planned", "stopped_early", "complete")
    ended = LedgerState(tuple(replace(cell, status=state) for cell, state in zip(cells, states, strict=True)))
    assert counts(only_stage(plan(grid, ended, Throughput(), sizes))) == (6, 2, 1, 1, 2)


def test_missing_pairs_are_noted(content, sizes):
    grid = grid_of(content, RHOS, evaluations=["STS-B/test"])
    planned = plan(grid, LedgerState(), one_second(grid.study.base), sizes)
    assert planned.scores.missing == {"STS-B/test": 3}
    assert any("STS-B/test is not in the data folder" in note for note in planned.notes)


@pytest.fixture
def priced(content, sizes):
    """Expected 4 hours, 3 to 6 of them; 2 a device hour."""
    grid = grid_of(content, RHOS, allowance={"price_per_hour": 2.0})
    planned = plan(grid, LedgerState(), one_second(grid.study.base), sizes)
    stage = only_stage(planned)
    seconds = Range(3 * 3600.0, 4 * 3600.0, 6 * 3600.0)
    return replace(planned, stages=(replace(stage, cost=replace(stage.cost, seconds=seconds)),))


@cases(
    ("hours", "cost", "outcome"),
    [
        (0.0, 0.0, ""),
        (6.0, 12.0, ""),
        (5.0, 0.0, "max_hours = 5"),
        (0.0, 10.0, "max_cost = 10"),
        (3.9, 0.0, OverBudget),
        (0.0, 7.9, OverBudget),
        (100.0, 7.9, OverBudget),
    ],
)
def test_the_expected_total_must_stay_below(priced, hours, cost, outcome):
    if outcome is OverBudget:
        with pytest.raises(OverBudget, match="expected"):
            check_allowance(priced, hours, cost)
    else:
        warnings = check_allowance(priced, hours, cost)
        assert len(warnings) == bool(outcome)
        assert all(outcome in warning for warning in warnings)


def test_a_limit_that_nobody_can_judge_is_refused_and_what_was_spent_counts(priced, grid, sizes):
    with pytest.raises(OverBudget, match="2 of it spent"):
        check_allowance(replace(priced, spent_hours=2.0), 5.0, 0.0)
    with pytest.raises(InputError, match=r"max_hours = 5: the time of its cells is unknown. Use --probe"):
        check_allowance(plan(grid, LedgerState(), Throughput(), sizes), 5.0, 0.0)
    with pytest.raises(
        InputError, match=r"max_cost = 5: the price of an hour is unknown.*allowance.price_per_hour"
    ):
        check_allowance(replace(priced, price_per_hour=0.0), 0.0, 5.0)
