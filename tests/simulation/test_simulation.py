"""Schedules in which drivers, workers, nodes and storages fail; see python -m tests.simulation."""

import re

import pytest

from rse_study.on_ray.workers import coordinator
from tests.simulation.broken import first_to_find
from tests.simulation.fates import Fates
from tests.simulation.ray_cluster import Cluster
from tests.simulation.ray_module import RayModule
from tests.simulation.schedule import play
from tests.simulation.scheduler import Process, Scheduler

NUM_FAST = 12
MENDED = {
    3: "a driver that took over a study from another machine lost the cells that had run there",
    28: "a worker that hung before its first step was known to nobody, and never ended",
}
"""seeds that broke a promise once, and why"""


def test_some_schedules_keep_every_promise():
    for seed in range(NUM_FAST):
        play(seed)


@pytest.mark.parametrize("seed", MENDED)
def test_a_schedule_that_once_broke_a_promise_keeps_it(seed):
    play(seed)


def test_a_seed_gives_the_same_events_again():
    first, second = [], []
    play(1, first.append)
    play(1, second.append)
    first, second = (re.sub(r"rse-simulation-\w+", "ROOT", "\n".join(lines)) for lines in (first, second))
    assert first == second
    assert "is killed" in first


def test_a_defect_is_found():
    assert first_to_find("a lost cell is not queued again", 30) is not None


def test_a_hanging_cell_is_ended_while_its_coordinator_is_made_again(monkeypatch):
    """By the processes that the driver knew: a driver that raised here would end with an internal error."""
    scheduler, ended, driver = Scheduler(0), [], Process("driver-0", "a")
    cluster = Cluster(scheduler, Fates(scheduler, left=0), [2], is_own=True)
    module = RayModule(scheduler, {id(driver): cluster})
    monkeypatch.setattr(coordinator, "ray", module)

    def work():
        ours = coordinator.Coordinator("study")
        (actor,) = cluster.actors.values()
        actor.enter.remote("cell", 0, "node", 7)
        for _ in range(2):
            ours.refresh()
        actor.die()
        ended.extend(ours.processes("cell"))

    task = scheduler.task(driver, work)
    scheduler.run(lambda: task.is_over)
    assert ended == [("node", 7)]


@pytest.mark.slow
def test_sixty_schedules_keep_every_promise():
    for seed in range(1000, 1060):
        play(seed)
