"""A search that races three seeds, cell by cell, as a driver leads it: killed and rebuilt wherever."""

import math
import random

import pytest

from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.fixed_cells import FixedCells
from rse_study.on_ray.queue.stages import confirm_cells
from rse_study.search.choice import standings_of
from rse_study.search.race import race_of
from rse_study.search.rebuild import rebuild
from rse_study.study.record import study_record
from tests.on_ray.queue.world import World, identify
from tests.on_ray.world import few_pairs
from tests.slow import mostly_slow

SEEDS = [6, 0, 7]  # not in order of size


@pytest.fixture
def content(study_content):
    base = study_content["base"] | {"budget": {"unit": "steps", "amount": 4}}
    return study_content | {"base": base, "seeds": SEEDS, "num_trials": 9}


class RacedWorld(World):
    """Its ledger knows that seeds race."""

    def __init__(self, folder, content):
        super().__init__(folder, content)
        self.ledger.freeze(study_record(self.checked, few_pairs("builtin/dev")))

    @property
    def race(self):
        return race_of(self.ledger, self.ledger.study(), self.ledger.cells())

    @staticmethod
    def told(queue):
        """What the sampler knows of each trial: state and value."""
        return [(trial.state.name, trial.value) for trial in queue._source._proposer._optuna.trials]


def value_of(cell):
    """A surface with its best at rho = 0.8, and noise of trial and seed as large as half of it."""
    # Not by identity: it hashes proposed floats.
    noise = random.Random(100 * cell.number + cell.seed).gauss(0, 1)
    return 60 - 8 * abs(cell.proposal["rho"] - 0.8) + 2 * noise


def played(world, kill_every=0, value_of=value_of):
    """Every cell until the search is over; at each kill the queue is made anew, once while a cell runs."""
    queue, seen = world.queue(), []
    while True:
        if kill_every and len(seen) % kill_every == 0:
            queue = world.queue()
        cell = queue.next_cell()
        if cell is None:
            return seen
        if kill_every and len(seen) % kill_every == 0:
            queue = world.queue()
            assert queue.next_cell() == cell  # interrupted: it runs again, before all others
        world.end(queue, cell, value_of(cell))
        seen.append((cell.number, cell.seed, cell.identity))


@pytest.mark.parametrize("sampler", mostly_slow(["tpe", "gp", "cma_es", "nsga2"], fast=["tpe"]))
@pytest.mark.parametrize("kill_every", [1, 4])
def test_a_killed_race_runs_the_cells_of_an_uninterrupted_one(opened, content, sampler, kill_every):
    content = content | {"sampler": {"name": sampler, "num_startup": 3, "population_size": 4}}
    whole = played(opened(RacedWorld, content, "whole"))
    assert played(opened(RacedWorld, content, "killed"), kill_every) == whole
    numbers = [number for number, _, _ in whole]
    assert set(numbers) == set(range(9)) and 9 + 4 < len(whole) < 27
    assert len(set(whole)) == len(whole)
    # The seeds of a trial come in the order of the file, before a new trial.
    assert whole == sorted(whole, key=lambda cell: (cell[0], SEEDS.index(cell[1])))


def test_the_ledger_says_the_same_as_the_queue(opened, content):
    world = opened(RacedWorld, content)
    assert world.race.most_cells == 27 == world.ledger.study().num_cells
    queue, most = world.queue(), [27]
    while (cell := queue.next_cell()) is not None:
        assert not world.race.is_over
        world.end(queue, cell, value_of(cell))
        most.append(world.race.most_cells)
    assert most == sorted(most, reverse=True)
    assert world.race.is_over and queue.num_left == 0
    num_cells = len(world.ledger.cells())
    assert world.race.most_cells == num_cells == 27 - world.race.num_saved
    assert world.race.num_with(1) == 9 and 2 <= world.race.num_with(3) <= world.race.num_with(2) < 9
    assert world.queue().num_left == 0  # the next run finds nothing to do


def test_rebuilt_from_its_files_a_ledger_leads_to_the_same_cells(opened, content, tmp_path):
    whole = played(opened(RacedWorld, content, "whole"))
    world = RacedWorld(tmp_path / "lost", content)
    queue = world.queue()
    for _ in range(len(whole) // 2):
        cell = queue.next_cell()
        world.end(queue, cell, value_of(cell))
    world.ledger.close()
    rebuild(tmp_path / "lost")
    again = opened(RacedWorld, content, "lost")
    played(again)
    assert {(one.trial, one.seed, one.identity) for one in again.ledger.cells()} == set(whole)


@pytest.mark.parametrize("at_a_time", [2, 3, 8])
@pytest.mark.parametrize("kill_every", [0, 3])
def test_with_several_at_a_time_all_trials_come_and_no_value_changes(opened, content, at_a_time, kill_every):
    world, draw = opened(RacedWorld, content), random.Random(at_a_time)
    queue, running, committed, num_ended = world.queue(), [], {}, 0
    while True:
        while len(running) < at_a_time and (cell := queue.next_cell()) is not None:
            running.append(cell)
        if not running:
            break
        cell = running.pop(draw.randrange(len(running)))
        committed[cell.number, cell.seed] = value_of(cell)
        world.end(queue, cell, value_of(cell))
        num_ended += 1
        if kill_every and num_ended % kill_every == 0:
            queue, running = world.queue(), []
        last = world.ledger.last_points("dev")
        cells = [one for one in world.ledger.cells() if one.identity in last]
        assert {(one.trial, one.seed): last[one.identity][1] for one in cells} == committed
    assert {number for number, _ in committed} == set(range(9))
    assert world.race.is_over and world.queue().num_left == 0
    for number in range(9):  # never a later seed without those before
        ran = [seed for seed in SEEDS if (number, seed) in committed]
        assert ran == SEEDS[: len(ran)]


def test_what_ends_later_may_reopen_a_race_and_the_sampler_is_told_once(opened, content):
    """Two at a time: trial 3 is out by a noise of 0.07, until the seeds of trial 2 turn out to lie 20 apart."""
    world = opened(RacedWorld, content | {"seeds": [6, 0], "num_trials": 4})
    queue = world.queue()
    for value in (50.0, 50.1, 60.0, 60.1):
        world.end(queue, queue.next_cell(), value)
    second, third = queue.next_cell(), queue.next_cell()
    assert (second.number, third.number) == (2, 3)
    world.end(queue, third, 59.0)
    assert queue.next_cell() is None and queue.num_left == 0 and not world.race.is_over
    assert world.told(queue)[3] == ("COMPLETE", 59.0)
    world.end(queue, second, 60.0)
    world.end(queue, queue.next_cell(), 40.0)
    reopened = queue.next_cell()
    assert (reopened.number, reopened.seed) == (3, 0)
    world.end(queue, reopened, 59.5)
    assert queue.next_cell() is None and world.race.is_over and world.queue().num_left == 0


def test_the_sampler_is_told_one_mean_a_trial_when_its_race_is_over(opened, content):
    world = opened(RacedWorld, content)
    queue = world.queue()
    for value in (50.0, 51.0):
        world.end(queue, queue.next_cell(), value)
        assert world.told(queue) == [("RUNNING", None)]
    world.end(queue, queue.next_cell(), 55.0)
    queue.next_cell()
    assert world.told(queue) == [("COMPLETE", 52.0), ("RUNNING", None)]


def test_a_first_seed_that_fails_fails_its_trial_and_a_later_one_ends_its_race(opened, content):
    world = opened(RacedWorld, content)
    queue, ran = world.queue(), []
    for value in (50.0, 51.0, math.nan, math.nan, 60.0):
        cell = queue.next_cell()
        ran.append((cell.number, cell.seed))
        world.end(queue, cell, value)
    assert ran == [(0, 6), (0, 0), (0, 7), (1, 6), (2, 6)]
    queue.next_cell()
    assert world.told(queue)[:2] == [("COMPLETE", 50.5), ("FAIL", None)]
    standings = {one.key: (one.t, one.values) for one in standings_of(world.ledger, "search")}
    first = next(one.identity for one in world.ledger.cells() if (one.trial, one.seed) == (0, 6))
    assert standings[first] == (2 * 3, (50.5,))  # steps and mean of the two that have a value


def test_only_a_first_seed_has_rungs_and_who_is_stopped_runs_no_other_and_stays_out_of_the_race(
    opened, content
):
    stopping = {"early_stopping": {"first": 1, "factor": 2}, "confirm": {"seeds": [1], "num_best": 1}}
    world = opened(RacedWorld, content | stopping)
    queue, ran = world.queue(), []
    while (cell := queue.next_cell()) is not None:
        ran.append((cell.number, cell.seed))
        assert queue.rungs_of(cell) == ((1, 2) if cell.seed == SEEDS[0] else ())
        said = [queue.progressed(cell, t, {"dev": 50.0 - cell.number}) for t in (1, 2)]
        assert cell.seed == SEEDS[0] or said == [None, None]
        world.end(queue, cell, 50.0 - cell.number, status="stopped_early" if "stop" in said else "complete")
    stopped = {one.trial for one in world.ledger.cells() if one.status == "stopped_early"}
    assert stopped == set(range(1, 9))
    assert ran == [(0, 6), (0, 0), (0, 7), *((n, 6) for n in range(1, 9))]
    assert world.race.is_over
    # Confirmation continues one: its first seed is complete then, and the search would go on after its end.
    (continued,) = [one for one in confirm_cells(world.checked, world.ledger, identify) if one.continues]
    source = FixedCells([continued], world.ledger)
    again = CellQueue(world.checked.study, "search", source, world.ledger, world.files)
    world.end(again, again.next_cell(), 90.0)
    assert world.ledger.cell(continued.identity).status == "complete"
    assert world.queue().num_left == 0 and world.race.is_over


def test_confirmation_takes_trials_by_their_means(opened, content):
    """Trial 2 has the best single seed of all, trial 1 the best mean of three; a trial of one seed comes last."""
    content = content | {"num_trials": 4, "confirm": {"seeds": [1], "num_best": 2}}
    values = {0: (50.0, 50.0, 50.0), 1: (60.0, 61.0, 62.0), 2: (65.0, 57.0, 58.0), 3: (40.0,)}
    world = opened(RacedWorld, content)
    played(world, value_of=lambda cell: values[cell.number][SEEDS.index(cell.seed)])
    cells = confirm_cells(world.checked, world.ledger, identify)
    assert [(cell.number, cell.seed) for cell in cells] == [(0, 1), (1, 1), (2, 1)]
    standings = standings_of(world.ledger, "search")
    assert [one.values[0] for one in standings] == [50.0, 61.0, 60.0, 40.0]
    assert [one.t for one in standings] == [9, 9, 9, 3]
