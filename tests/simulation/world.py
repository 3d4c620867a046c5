"""What the processes of one schedule share: clock, disk, storage and clusters, all drawn from a seed."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rse_study.results.files import connect
from rse_study.storage.storage import FolderObjects
from tests.simulation import invariants, training
from tests.simulation.disk import Disk, leave_thread, watch_thread
from tests.simulation.fates import Fates
from tests.simulation.ray_cluster import Cluster, joined
from tests.simulation.ray_module import RayModule
from tests.simulation.scheduler import Killed, Process, Scheduler
from tests.simulation.tune import tune_run


class SlowObjects(FolderObjects):
    """A storage in a folder that does not answer for a while, now and then."""

    world: "World"

    def _path(self, key: str) -> Path:
        fates, scheduler = self.world.fates, self.world.scheduler
        if scheduler.current is not None:
            scheduler.live()
            if fates.strike(self.world.storage_fails):
                self.world.storage_silent_until = scheduler.now + fates.seconds(60)
                scheduler.say(f"the storage is silent until {self.world.storage_silent_until:.0f}")
            if scheduler.now < self.world.storage_silent_until:
                scheduler.pause(5)
                raise OSError("timed out")
        return super()._path(key)


class World:
    """Everything that one seed decides."""

    def __init__(self, seed: int, root: Path, tell: Callable[[str], None] | None = None) -> None:
        self.root = root
        self.disk = Disk(root, self._moment, self._committed)
        self.scheduler = Scheduler(seed, tell, self._watched)
        self.fates = Fates(self.scheduler, left=0)
        self.storage_fails, self.storage_silent_until = 0.0, 0.0
        self.clusters: dict[int, Cluster] = {}  # by id of the driver's process
        self.shared: Cluster | None = None  # a cluster that drivers join
        self.ray = RayModule(self.scheduler, self.clusters)
        self.promises: dict[str, invariants.Promises] = {}  # by ledger
        self.step_seconds = 4.0

    def disturbed(self) -> "World":
        """Draw what may go wrong, and how often: some schedules have many kinds of faults, some one."""
        draw, fates = self.scheduler.draw, self.fates
        fates.left = draw.choice([2, 5, 10, 20])
        for name in ("driver_dies", "worker_dies", "worker_hangs", "stalls"):
            setattr(fates, name, draw.choice([0.0, 0.0, 0.003, 0.01, 0.04]))
        fates.yields = draw.choice([0.0, 0.1, 0.5])
        self.storage_fails = draw.choice([0.0, 0.005])
        return self

    def renew_shared(self) -> None:
        self.shared = Cluster(self.scheduler, self.fates, [1, 2], is_own=False)

    # What the substitutes ask.

    def _moment(self, what: str) -> None:
        self.fates.moment(what)

    def _committed(self, connection: sqlite3.Connection) -> None:
        path = connection.execute("PRAGMA database_list").fetchone()[2]
        folder = str(Path(path).parent)
        if folder in self.promises and path.endswith("/ledger.sqlite"):
            self.promises[folder].check(connection)

    @contextmanager
    def _watched(self) -> Iterator[None]:
        watch_thread(self.disk)
        try:
            yield
        finally:
            leave_thread()

    @property
    def process(self) -> Process:
        assert self.scheduler.current is not None
        return self.scheduler.current.process

    @contextmanager
    def ray_session(
        self, num_cpus: int = 0, address: str = "", exit_stuck: Callable[[str], None] = print
    ) -> Iterator[None]:
        if not address:
            self.clusters[id(self.process)] = Cluster(self.scheduler, self.fates, [num_cpus], is_own=True)
            yield
            return
        assert self.shared is not None
        if self.shared.lost_reason and self.scheduler.draw.random() < 0.5:
            self.renew_shared()
        with joined(self.shared, lambda: not self.shared.lost_reason):
            self.clusters[id(self.process)] = self.shared
            yield

    def probe(self) -> Cluster:
        return self.clusters[id(self.process)]

    def run_tune(
        self, searcher: Any, asking: Any, callbacks: list[Any], folder: Path, resources: Any
    ) -> None:
        tune_run(self.probe(), self.ray, searcher, asking, callbacks[0], resources)

    def kill_pid(self, pid: int) -> None:
        self.scheduler.kill(self.scheduler.pids[pid])

    def exit(self, code: int) -> None:
        self.scheduler.kill(self.process, code)
        raise Killed

    def take_lock(self, path: Path) -> Any:
        stream = real_take_lock(path)
        self.process.locks.append(stream)
        return stream

    @contextmanager
    def graceful_interrupt(self, on_first: Callable[[], None]) -> Iterator[None]:
        self.process.interrupt = on_first
        yield

    def open_session(self, *arguments: Any) -> training.SimulatedSession:
        return training.SimulatedSession(
            self.scheduler.sleep, lambda: self.fates.seconds(self.step_seconds), *arguments
        )

    def open_objects(self, location: str) -> SlowObjects:
        objects = SlowObjects(Path(location))
        objects.world = self
        return objects


real_take_lock = connect.take_lock
