import math
from dataclasses import replace
from pathlib import Path

import pytest

from rse_study.errors import Unavailable
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.fixed_cells import FixedCells
from rse_study.on_ray.queue.proposed_cells import ProposedCells
from rse_study.on_ray.queue.stages import grid_cells
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.stored.folders import StudyFolders
from rse_study.results.files.evaluation_file import write_evaluations
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Point, Result, write_result
from rse_study.results.files.schema import cell_folder
from rse_study.results.records import EvaluationRow
from rse_study.results.study_record import ObjectiveRecord, StudyRecord
from rse_study.sampling.proposer import Proposer
from rse_study.sampling.pruners import deciding_rule
from rse_study.spec import fingerprint_of
from tests.on_ray.world import checked_of, few, grid_of
from tests.slow import mostly_slow


@pytest.fixture
def content(study_content):
    return study_content | {"num_trials": 4}


@pytest.fixture
def grid_content(study_content):
    grid = {"axes": {"rho": [0.0, 0.5]}, "rows": {"strong": {"alpha": 1e-3}}}
    return grid_of(study_content, grid=grid, seeds=[0, 1])


class World:
    """Queues over one folder, as a driver makes them at every start."""

    known = ()

    def __init__(self, folder, content):
        self.checked = checked_of(content)
        self.ledger, self.files = Ledger.open(folder), StudyFiles(StudyFolders(folder))
        self.ledger.freeze(StudyRecord(name="x", objective=ObjectiveRecord(metric="dev")))

    def queue(self, **options):
        self.ledger.close_attempts("the driver ended while it ran")
        study = self.checked.study
        domains = {axis.name: axis.domain for axis in self.checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, [study.objective.direction])
        source = ProposedCells(self.checked, proposer, identify, self.known)
        rule = deciding_rule(study, Path())
        return CellQueue(
            study, "search", source, self.ledger, self.files, self.checked.rungs, rule=rule, **options
        )

    def grid(self):
        self.ledger.close_attempts("the driver ended while it ran")
        cells = grid_cells(self.checked, self.ledger, identify)
        self.ledger.retire_others({cell.identity for cell in cells}, "grid")
        return CellQueue(self.checked.study, "grid", FixedCells(cells, self.ledger), self.ledger, self.files)

    def train(self, cell, dev=50.0, t=3, **settings):
        """What a worker leaves behind."""
        history = (Point(t=t, metrics={"dev": dev}),)
        result = Result(
            identity=cell.identity, seed=cell.seed, config={}, history=history, final={"dev": dev}, **settings
        )
        write_result(cell_folder(self.ledger.study_dir, cell.identity), result)

    def end(self, queue, cell, dev=50.0, **settings):
        self.train(cell, dev, **settings)
        return queue.finish(cell)

    def run(self, queue, value_of=lambda cell: 50.0):
        """All cells, one at a time."""
        ran = []
        while (cell := queue.next_cell()) is not None:
            self.end(queue, cell, value_of(cell))
            ran.append(cell)
        return ran


def identify(trial, seed):
    return fingerprint_of([trial.identity(), seed])


@pytest.fixture
def world(opened, content):
    return opened(World, content)


def test_the_papers_setting_comes_first_and_is_in_the_ledger_before_it_runs(world):
    cell = world.queue().next_cell()
    assert (cell.number, cell.proposal) == (0, {"alpha": 1e-5, "rho": 0.5})
    assert cell.trial == world.checked.study.base
    (record,) = world.ledger.cells()
    assert (record.identity, record.status, record.proposal) == (cell.identity, "running", cell.proposal)


def test_an_interrupted_cell_runs_again_and_asks_nothing_new(world):
    queue = world.queue()
    first = queue.next_cell()
    world.end(queue, first)
    second = queue.next_cell()
    again = world.queue()
    assert again.num_left == 3
    assert again.next_cell() == second
    assert len(world.ledger.cells()) == 2


def test_a_result_the_ledger_does_not_know_is_adopted(world):
    queue = world.queue()
    cell = queue.next_cell()
    world.train(cell, dev=61.5)
    assert world.queue().num_left == 3
    (record,) = world.ledger.cells()
    assert record.status == "complete"
    assert [row.value for row in world.ledger.history(cell.identity)] == [61.5]


def test_scores_that_lie_beside_a_result_are_entered_with_it(world):
    """Of what the queue's cells are asked: other data or settings are another evaluation."""
    evaluation = few("builtin/test")
    queue = world.queue(evaluations=[evaluation])
    first, second = queue.next_cell(), queue.next_cell()
    for cell in (first, second):
        world.train(cell)
        fingerprint = evaluation.fingerprint if cell is first else "of other data"
        score = {"task": "builtin", "split": "test", "value": 70.0, "num_examples": 9}
        known = EvaluationRow(subject=cell.identity, fingerprint=fingerprint, **score)
        write_evaluations(cell_folder(world.ledger.study_dir, cell.identity), [known])
        queue.finish(cell)
    assert [(row.subject, row.value) for row in world.ledger.evaluations()] == [(first.identity, 70.0)]


def test_a_damaged_result_is_no_result_and_out_of_the_way(world):
    queue = world.queue()
    cell = queue.next_cell()
    world.train(cell)
    path = cell_folder(world.ledger.study_dir, cell.identity) / "result.json"
    path.write_text(path.read_text().replace("50.0", "99.0"))
    assert world.queue().next_cell() == cell
    assert not path.exists()


def test_another_configurations_result_is_set_aside_with_all_that_is_its_own(world):
    queue = world.queue()
    cell, other = queue.next_cell(), queue.next_cell()
    world.train(other)
    there, here = (cell_folder(world.ledger.study_dir, one.identity) for one in (other, cell))
    (there / "checkpoint").mkdir()
    for name in ("result.json", "checkpoint"):
        (there / name).rename(here / name)
    assert world.queue().next_cell() == cell
    left = {path.name for path in here.iterdir()}
    assert {"checkpoint.other", "result.json.other"} <= left
    assert not left & {"result.json", "checkpoint"}


def test_a_lost_cell_is_tried_again_as_often_as_allowed_and_one_lost_with_ray_itself_does_not_count(world):
    queue = world.queue()
    first = queue.next_cell()
    for _ in range(5):
        assert queue.finish(first, "Ray was lost", excused=True) is None
        assert queue.next_cell() == first
    for _ in range(2):
        assert queue.finish(first, "worker killed") is None
        assert queue.next_cell() == first
    record = queue.finish(first, "worker killed again")
    assert (record.status, record.reason) == ("failed", "worker killed again")
    outcomes = [attempt.outcome for attempt in world.ledger.attempts([first.identity])]
    assert outcomes == [*["lost"] * 7, "failed"]


def test_a_cell_whose_disk_is_full_is_tried_as_often_and_then_ends_the_run_and_stays_planned(world):
    queue = world.queue()
    first = queue.next_cell()
    for _ in range(2):
        assert queue.finish(first, "no room left. Make room", is_blameless=True) is None
        assert queue.next_cell() == first
    with pytest.raises(Unavailable, match=r"no room left\. Make room"):
        queue.finish(first, "no room left. Make room", is_blameless=True)
    assert world.ledger.cell(first.identity).status == "planned"
    assert world.queue().next_cell() == first


def test_a_complete_cell_keeps_no_checkpoint_if_its_worker_ended_before_it_removed_it(world):
    queue = world.queue()
    cell = queue.next_cell()
    world.train(cell)
    left = cell_folder(world.ledger.study_dir, cell.identity) / "checkpoint" / "step-000000001"
    left.mkdir(parents=True)
    queue.finish(cell)
    assert not left.parent.exists()


def test_a_cell_that_would_fail_again_keeps_its_reason_and_the_search_goes_on(world):
    queue = world.queue()
    cell = queue.next_cell()
    record = queue.finish(cell, "the corpus was tokenised otherwise", for_good=True)
    assert (record.status, record.reason) == ("failed", "the corpus was tokenised otherwise")
    assert queue.next_cell().number == 1


def test_a_cell_lost_for_good_is_tried_again_by_the_next_run_but_a_lost_loss_is_not(world):
    queue = world.queue()
    first, second = queue.next_cell(), queue.next_cell()
    world.end(queue, second, status="failed", reason="step 1: the loss is not finite")
    for _ in range(3):
        queue.finish(first, "worker killed")
        queue.next_cell()
    again = world.queue()
    assert [cell.number for cell in (again.next_cell(), again.next_cell())] == [0, 2]


@pytest.mark.parametrize(
    "sampler", mostly_slow(["tpe", "gp", "cma_es", "nsga2"], fast=["tpe", "cma_es", "nsga2"])
)
def test_a_resumed_search_proposes_what_an_uninterrupted_one_does(opened, content, sampler):
    named = {"name": sampler, "num_startup": 2, "population_size": 4}
    content = content | {"sampler": named, "num_trials": 7}

    def proposals(name, restart):
        world = opened(World, content, name)
        queue, seen = world.queue(), []
        for number in range(7):
            if restart:
                queue = world.queue()
            cell = queue.next_cell()
            world.end(queue, cell, math.sin(number))
            seen.append((cell.identity, cell.proposal))
        return seen

    assert proposals("a", restart=False) == proposals("b", restart=True)


def test_no_identity_runs_twice(opened, content):
    choices = [0.0, 0.5, 1.0]
    queue = opened(World, content | {"search": {"rho": {"choice": choices}}, "num_trials": 3}).queue()
    assert sorted(queue.next_cell().proposal["rho"] for _ in range(3)) == choices


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


@pytest.fixture
def of_four_steps(content):
    return content | {"base": content["base"] | {"budget": {"unit": "steps", "amount": 4}}}


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


RULES = {
    "asha": {"name": "asha", "first": 1, "factor": 2},
    "median": {"name": "median", "first": 1, "every": 1, "num_startup": 2},
    "hyperband": {"name": "hyperband", "first": 1, "factor": 2},
    "let run": {"name": "median", "first": 1, "every": 1, "num_startup": 1, "let_run": 0.4},
    "pruner that reads ends": {"class": "optuna.pruners:MedianPruner", "first": 1, "every": 1}
    | {"settings": {"n_startup_trials": 2}},
    "pruner that keeps notes": {
        "class": "optuna.pruners:HyperbandPruner",
        "first": 1,
        "every": 1,
        "let_run": 0.2,
    }
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


def test_who_is_let_run_goes_on_and_the_ledger_has_the_verdict(opened, of_four_steps):
    world = opened(World, of_four_steps | {"early_stopping": RULES["asha"] | {"let_run": 1.0}})
    queue = world.queue()
    cells = [queue.next_cell() for _ in range(3)]
    values = zip(cells, (50.0, 40.0, math.nan), strict=True)
    said = [queue.progressed(cell, 1, {"dev": dev}) for cell, dev in values]
    assert said == ["continue", "continue", "stop"]  # of a lost value nothing can be learnt
    verdicts = {row.cell: row.verdict for row in world.ledger.rungs()}
    assert [verdicts[cell.identity] for cell in cells] == ["continue", "stop", "stop"]
    assert world.queue().progressed(cells[1], 1, {"dev": 40.0}) == "continue"


def test_under_hyperband_a_cell_waits_at_the_rungs_of_its_bracket(opened, of_four_steps):
    world = opened(World, of_four_steps | {"early_stopping": RULES["hyperband"], "num_trials": 10})
    queue = world.queue()
    cells = [queue.next_cell() for _ in range(10)]
    assert {queue.rungs_of(cell) for cell in cells} == {(1, 2), (2,), ()}
    last = next(cell for cell in cells if queue.rungs_of(cell) == ())
    assert queue.progressed(last, 1, {"dev": -99.0}) is None
    assert world.ledger.rungs() == []


def test_without_room_no_cell_is_given_and_room_that_comes_back_is_used(world):
    rooms = [True, False, True]
    queue = world.queue(has_room=lambda: rooms[0])
    first = queue.next_cell()
    rooms.pop(0)
    assert queue.num_left == 0
    assert queue.next_cell() is None
    rooms.pop(0)
    world.end(queue, first)
    assert queue.num_left == 3
    assert queue.next_cell().number == 1


def test_a_cell_shows_its_axes_by_heading_and_never_other_values_than_it_runs(opened, content):
    world = opened(World, content)
    cell = world.queue().next_cell()
    axes = {axis.symbol: axis for axis in world.checked.space.axes}
    assert cell.shown(axes) == {"row": "base", "alpha": 1e-5, "rho": 0.5, "seed": 0}
    with pytest.raises(AssertionError, match="trial 0 is not what its axes say"):
        replace(cell, proposal={"alpha": 1e-4, "rho": 0.5}).shown(axes)
