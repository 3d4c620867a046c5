"""Early stopping at the rungs: a verdict is given on what the ledger holds, and stays as it was given."""

import math
from dataclasses import replace

import pytest

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.search.stopping.hyperband import bracket_of
from tests.on_ray.queue.world import World


@pytest.fixture
def of_four_steps(study_content):
    base = study_content["base"] | {"budget": {"unit": "steps", "amount": 4}}
    return study_content | {"base": base, "num_trials": 4}


@pytest.fixture
def halving(opened, of_four_steps):
    return opened(World, of_four_steps | {"early_stopping": {"first": 1, "factor": 2}, "num_trials": 6})


def test_a_rung_is_decided_on_what_the_ledger_holds_and_stays_decided(halving):
    queue = halving.queue()
    first, second, third = (queue.next_cell() for _ in range(3))
    assert queue.progressed(first, 1, {"dev": 50.0}) == "continue"
    assert queue.progressed(second, 1, {"dev": 40.0}) == "stop"
    assert queue.progressed(third, 1, {"dev": 60.0}) == "continue"
    assert queue.progressed(first, 1, {"dev": 0.0}) == "continue"  # asked again after a restart: as it was
    again = halving.queue()
    assert again.progressed(second, 1, {"dev": 99.0}) == "stop"
    assert [row.value for row in halving.ledger.rungs() if row.cell == second.identity] == [40.0]
    assert again.progressed(third, 3, {"dev": 50.0}) is None  # between rungs nobody waits


def test_a_stopped_cell_that_was_taken_further_gets_no_later_verdicts_if_its_driver_was_killed(halving):
    queue = halving.queue()
    first, second = queue.next_cell(), queue.next_cell()
    queue.progressed(first, 1, {"dev": 50.0})
    assert queue.progressed(second, 1, {"dev": 40.0}) == "stop"
    halving.end(queue, second, t=1, status="stopped_early")
    source = FixedCells([replace(second, continues=True)], halving.ledger)
    CellQueue(halving.checked.study, "search", source, halving.ledger, halving.files).next_cell()
    history = tuple(Point(t=t, metrics={"dev": 40.0}) for t in (1, 2, 4))
    result = Result(identity=second.identity, seed=second.seed, config={}, history=history)
    write_result(cell_folder(halving.ledger.study_dir, second.identity), result)
    halving.queue()
    assert halving.ledger.cell(second.identity).status == "complete"
    rungs = [(row.t, row.verdict) for row in halving.ledger.rungs() if row.cell == second.identity]
    assert rungs == [(1, "stop")]


RULES = {
    "asha": {"name": "asha", "first": 1, "factor": 2},
    "median": {"name": "median", "first": 1, "every": 1, "num_startup": 2},
    "hyperband": {"name": "hyperband", "first": 1, "factor": 2},
    "pruner that reads ends": {"class": "optuna.pruners:MedianPruner", "first": 1, "every": 1}
    | {"settings": {"n_startup_trials": 2}},
    "pruner that keeps notes": {"class": "optuna.pruners:HyperbandPruner", "first": 1, "every": 1}
    | {"settings": {"min_resource": 1, "max_resource": 4, "reduction_factor": 2}},
}


def run_with_rungs(world, restart):
    queue, seen = world.queue(), []
    for number in range(12):
        if restart:
            queue = world.queue()
        cell, verdicts = queue.next_cell(), []
        for t in queue.rungs_of(cell):
            verdicts.append((t, queue.progressed(cell, t, {"dev": math.sin(3 * number + t)})))
            if restart:
                queue = world.queue()
                assert queue.next_cell() == cell  # taken up again, at the same rung
                assert queue.progressed(cell, t, {"dev": 0.0}) == verdicts[-1][1]
            if verdicts[-1][1] == "stop":
                break
        status = "stopped_early" if "stop" in dict(verdicts).values() else "complete"
        world.end(queue, cell, math.sin(3 * number), status=status)
        seen.append((cell.identity, verdicts))
    return seen


@pytest.mark.parametrize("rule", RULES.values(), ids=RULES)
def test_a_resumed_search_with_early_stopping_equals_an_uninterrupted_one(opened, of_four_steps, rule):
    stopping = of_four_steps | {"early_stopping": rule, "num_trials": 12}
    whole, interrupted = opened(World, stopping, "whole"), opened(World, stopping, "interrupted")
    seen = run_with_rungs(whole, restart=False)
    assert run_with_rungs(interrupted, restart=True) == seen
    assert whole.ledger.rungs() == interrupted.ledger.rungs()
    assert {said for _, verdicts in seen for _, said in verdicts} == {"continue", "stop"}


def test_under_hyperband_a_cell_waits_at_the_rungs_of_its_bracket(opened, of_four_steps):
    world = opened(World, of_four_steps | {"early_stopping": RULES["hyperband"], "num_trials": 10})
    queue = world.queue()
    cells = [queue.next_cell() for _ in range(10)]
    assert {queue.rungs_of(cell) for cell in cells} == {(1, 2), (2,), ()}
    begins = [bracket_of(world.checked.study.search_seed, cell.number, 2, 2) for cell in cells]
    assert [queue.rungs_of(cell) for cell in cells] == [(1, 2)[begin:] for begin in begins]
    last = next(cell for cell in cells if queue.rungs_of(cell) == ())
    assert queue.progressed(last, 1, {"dev": -99.0}) is None
    assert world.ledger.rungs() == []
