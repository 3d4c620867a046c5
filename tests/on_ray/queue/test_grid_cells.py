"""The cells of a grid: planned whole, and of a grid that has grown only the new ones."""

import math
from collections import Counter
from dataclasses import replace

import pytest

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.on_ray.queue.stages import confirm_cells
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.study_record import AxisRecord, ObjectiveRecord, StudyRecord
from rse_study.search.stopping.hyperband import bracket_of
from tests.on_ray.queue.world import World, identify
from tests.on_ray.world import grid_of


@pytest.fixture
def grid_content(study_content):
    grid = {"axes": {"rho": [0.0, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}}
    return grid_of(study_content, grid=grid, seeds=[0, 1])


def test_a_grid_is_planned_whole_and_run_in_order(opened, grid_content):
    world = opened(World, grid_content)
    queue = world.grid()
    planned = [(n, seed) for n in range(3) for seed in (0, 1)]
    assert [(c.trial, c.seed, c.status) for c in world.ledger.cells()] == [
        (*one, "planned") for one in planned
    ]
    ran = world.run(queue)
    assert [(cell.number, cell.seed) for cell in ran] == planned
    assert [cell.label for cell in ran] == [*[""] * 4, "strong", "strong"]
    assert world.grid().num_left == 0


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"seeds": [0, 1, 2]}, [(0, 2), (1, 2), (2, 2)]),
        (
            {"grid": {"axes": {"rho": [0.0, 0.25, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}}},
            [(3, 0), (3, 1)],
        ),
        ({"grid": {"axes": {"rho": [0.0, 0.5]}}}, []),
    ],
    ids=["a seed more", "a row in between", "a row less"],
)
def test_a_grown_grid_runs_exactly_what_is_new(opened, grid_content, change, expected):
    world = opened(World, grid_content)
    world.run(world.grid())
    before = {cell.identity: cell.trial for cell in world.ledger.cells()}
    grown = opened(World, grid_content | change)
    ran = grown.run(grown.grid())
    assert [(cell.number, cell.seed) for cell in ran] == expected
    assert before.items() <= {cell.identity: cell.trial for cell in grown.ledger.cells()}.items()


def test_a_row_taken_away_is_retired_and_comes_back_without_running(opened, grid_content):
    world = opened(World, grid_content)
    world.run(world.grid())
    less = opened(World, grid_content | {"grid": {"axes": {"rho": [0.0, 0.5]}}})
    less.grid()
    assert [cell.label for cell in less.ledger.cells() if cell.retired] == ["strong", "strong"]
    back = opened(World, grid_content)
    assert back.grid().num_left == 0
    assert not any(cell.retired for cell in back.ledger.cells())


# Every value of an axis gets the same number of trials, and the best trial of each is confirmed.


METHODS = {
    "robust": {},
    "simcse": {"preset": "simcse"},
    "l2p": {"method": {"name": "l2p_csr"}},
}
SEARCH = {
    "method": {"variants": METHODS},
    "optimizer.lr": {"log": [1e-6, 1e-3]},
    "rho": {"float": [0, 1], "when": {"method": "robust"}},
}


class TunedWorld(World):
    """A search whose frozen record knows its axes, as confirmation asks for them."""

    def __init__(self, folder, content):
        super().__init__(folder, content)
        axes = (AxisRecord(name="method", paths=("method",), kind="choice", choices=tuple(METHODS)),)
        resolved = {"tune_each": "method", "confirm": content["confirm"], "search": content["search"]}
        record = StudyRecord(name="x", objective=ObjectiveRecord(metric="dev"), axes=axes, resolved=resolved)
        self.record = record


@pytest.fixture
def content(study_content):
    tuned = {"num_trials": 12, "tune_each": "method", "early_stopping": None}
    confirm = {"num_best": 1, "baseline": "none", "seeds": [7, 8]}
    return study_content | tuned | {"search": SEARCH, "confirm": confirm}


def worth(cell):
    """SimCSE is best, and within each method the larger rate."""
    return {"robust": 50, "simcse": 60, "l2p": 40}[cell.proposal["method"]] + 1e4 * cell.trial.optimizer.lr


@pytest.mark.parametrize("sampler", ["tpe", "random"])
def test_values_take_turns_from_the_bases_own_and_a_killed_search_asks_the_same(opened, content, sampler):
    content = content | {"sampler": {"name": sampler, "num_startup": 2}}
    whole = opened(TunedWorld, content)
    cells = whole.run(whole.queue(), worth)
    methods = [cell.proposal["method"] for cell in cells]
    assert methods == ["robust", "simcse", "l2p"] * 4
    assert cells[0].proposal == whole.checked.space.base_point
    assert all(("rho" in cell.proposal) == (cell.proposal["method"] == "robust") for cell in cells)

    killed, again = opened(TunedWorld, content, "killed"), []
    while (cell := (queue := killed.queue()).next_cell()) is not None:  # a new driver for every trial
        killed.end(queue, cell, worth(cell))
        again.append(cell.proposal)
    assert again == [cell.proposal for cell in cells]


@pytest.mark.parametrize(
    ("rates", "expected"),
    [([1e-6, 1e-3], ["robust", "simcse", "l2p"]), ([0.01, 0.1], ["l2p", "robust", "simcse"])],
    ids=["from the base's own on", "from the first on, where the base is no point of the space"],
)
def test_turns_go_through_the_values_in_their_order(opened, content, rates, expected):
    variants = {name: METHODS[name] for name in ("l2p", "robust", "simcse")}
    search = SEARCH | {"method": {"variants": variants}, "optimizer.lr": {"log": rates}}
    world = opened(TunedWorld, content | {"search": search})
    assert (world.checked.space.base_point is None) == (expected[0] == "l2p")
    cells = world.run(world.queue(), worth)
    assert [cell.proposal["method"] for cell in cells] == expected * 4


def test_the_best_of_each_is_confirmed_the_base_too_where_it_is_the_best(opened, content):
    world = opened(TunedWorld, content)
    cells = world.run(world.queue(), worth)
    best = {}
    for cell in cells:
        method = cell.proposal["method"]
        best[method] = max(best.get(method, cell), cell, key=worth)
    confirmed = confirm_cells(world.checked, world.ledger, identify)
    assert Counter((cell.number, cell.seed) for cell in confirmed) == {
        (cell.number, seed): 1 for cell in best.values() for seed in (7, 8)
    }
    assert world.checked.num_cells == 12 + 6
    assert world.record.confirm_settings.num_cells == 6


# Early stopping at the rungs: a verdict is given on what the ledger holds, and stays as it was given.


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
