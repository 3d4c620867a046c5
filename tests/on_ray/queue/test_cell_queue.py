import math
from dataclasses import replace

import pytest

from rse_study.errors import Unavailable
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells
from rse_study.results.files.result_file import write_evaluations
from rse_study.results.files.schema import cell_folder
from rse_study.results.records import EvaluationRow
from tests.on_ray.queue.world import World
from tests.on_ray.world import few
from tests.slow import mostly_slow


@pytest.fixture
def content(study_content):
    return study_content | {"num_trials": 4}


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


def lose(queue, cell, times, reason, **options):
    """Lose a cell so often; each time it is the next one again."""
    for _ in range(times):
        assert queue.finish(cell, reason, **options) is None
        assert queue.next_cell() == cell


def test_a_lost_cell_is_tried_again_as_often_as_allowed_and_one_lost_with_ray_itself_does_not_count(world):
    queue = world.queue()
    first = queue.next_cell()
    lose(queue, first, 5, "Ray was lost", excused=True)
    lose(queue, first, 2, "worker killed")
    record = queue.finish(first, "worker killed again")
    assert (record.status, record.reason) == ("failed", "worker killed again")
    outcomes = [attempt.outcome for attempt in world.ledger.attempts([first.identity])]
    assert outcomes == [*["lost"] * 7, "failed"]


def test_a_stopped_cell_that_goes_on_and_is_lost_has_not_ended_with_its_earlier_result(world):
    first = world.queue()
    cell = first.next_cell()
    world.end(first, cell, t=1, status="stopped_early")
    source = FixedCells([replace(cell, continues=True)], world.ledger)
    queue = CellQueue(world.checked.study, "confirm", source, world.ledger, world.files)
    again = queue.next_cell()
    assert (again.identity, again.continues) == (cell.identity, True)
    assert queue.finish(again, "worker killed") is None
    assert queue.next_cell() == again
    world.train(again, t=3)
    record = queue.finish(again)
    assert record.status == "complete"
    assert [row.t for row in world.ledger.history(cell.identity)] == [3]


def test_a_cell_whose_disk_is_full_is_tried_as_often_and_then_ends_the_run_and_stays_planned(world):
    queue = world.queue()
    first = queue.next_cell()
    lose(queue, first, 2, "no room left. Make room", is_blameless=True)
    with pytest.raises(Unavailable, match=r"no room left\. Make room"):
        queue.finish(first, "no room left. Make room", is_blameless=True)
    assert world.ledger.cell(first.identity).status == "planned"
    assert world.queue().next_cell() == first


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
