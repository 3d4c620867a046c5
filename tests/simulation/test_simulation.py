"""Schedules in which drivers, workers, nodes and storages fail; see python -m tests.simulation."""

import re
import sqlite3
import struct
from contextlib import closing
from pathlib import Path

import pytest

from rse_study.on_ray.workers import coordinator
from rse_study.results.files.schema import ledger_path
from tests.simulation import invariants
from tests.simulation.drivers import Drivers
from tests.simulation.fates import Fates
from tests.simulation.ray_cluster import Cluster
from tests.simulation.ray_module import RayModule
from tests.simulation.schedule import play, undisturbed
from tests.simulation.scheduler import Killed, Process, Scheduler
from tests.simulation.world import World

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


def flip_a_bit(path: Path) -> None:
    """Change a loss in the ledger of a driver that was killed: what it committed last is in its log."""
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        flipped = db.execute(
            "SELECT value FROM metric JOIN cell ON cell = identity WHERE name = 'loss' AND status = 'complete'"
        ).fetchone()
    content, number = path.read_bytes(), struct.pack(">d", *flipped)
    assert number in content
    path.write_bytes(content.replace(number, number[:-1] + bytes([number[-1] ^ 1]), 1))


def test_a_searchs_ledger_damaged_in_its_midst_ends_equal_to_an_undisturbed_one(tmp_path):
    """Its driver is killed as it starts a cell; tests/results/files/test_backup.py damages ledgers in more ways."""
    said = []

    def hear(line):
        said.append(line)
        if "driver-1" in line and "started search 4 " in line:
            world.scheduler.kill(world.process)
            raise Killed
        if "driver-1 has ended" in line:
            flip_a_bit(ledger_path(runs.folder))
            # For a moment the backup lacks what was entered since; the files of cells bring it.
            world.promises[str(runs.folder)] = invariants.Promises(runs.checked)

    world = World(0, tmp_path, hear)
    drivers = Drivers(world)
    runs = drivers.add("stopped", is_serial=True)
    drivers.play()
    assert runs.codes == [-9, 0]
    assert "goes on from its backup" in "\n".join(said)
    invariants.check_equal(runs.folder, undisturbed("stopped"), "after its ledger was damaged")


@pytest.mark.slow
def test_sixty_schedules_keep_every_promise():
    for seed in range(1000, 1060):
        play(seed)
