"""One schedule: studies, their drivers, and everything that happens to them, drawn from a seed."""

import os
import shutil
import socket
import sqlite3
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from tempfile import mkdtemp
from types import SimpleNamespace
from typing import Any

import psutil
import ray

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray import background, driver, runtime, scoring, searcher, tuner
from rse_study.on_ray.nodes import cluster_watch, demand, elastic, lost_cells
from rse_study.on_ray.stored import lease, ledger_copy
from rse_study.on_ray.workers import coordinator, evaluations, reporting, trainable, workplace
from rse_study.results.files import connect, ledger, lock, queries, writes
from rse_study.search import state
from rse_study.storage import node_cache, storage
from rse_study.storage.objects import FolderObjects
from rse_study.study import record
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training import loop
from rse_study.training.materials import Materials
from tests.on_ray.world import few, few_pairs
from tests.simulation import invariants, training
from tests.simulation.disk import Disk, leave_thread, watch_thread
from tests.simulation.fates import Fates
from tests.simulation.ray_cluster import Cluster, RayModule, joined, tune_run
from tests.simulation.scheduler import Killed, Process, Scheduler, Violation
from tests.simulation.studies import BEFORE, STUDIES, checked_study

OK, BAD_INPUT, INCOMPLETE, INTERRUPTED = 0, 2, 3, 130
BEGUN_TWICE = "a storage holds one study of a name"
"""two machines began a study, and the first died before its ledger was in the storage"""
REFUSALS = (
    "held by process",
    "runs this study",
    "no cluster at",
    "there is no node",
    "storage /",
    BEGUN_TWICE,
)
"""what a run may be refused for here (exit code 2), in words of its message"""
MAX_RUNS = 60


@dataclass
class Runs:
    """A study on one machine, and the drivers that were started for it."""

    checked: CheckedStudy
    folder: Path
    machine: str
    address: str = ""
    codes: list[int] = field(default_factory=list)


class Listener:
    """The driver's display: what it says goes into the trace."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.message = say
        self.cells_found = lambda cells: say(f"{len(cells)} cells found")
        self.started = lambda cell: say(f"started {cell.stage} {cell.number} seed {cell.seed}")
        self.progressed = lambda cell, t, num_steps, metrics: None
        self.ended = lambda cell, record: say(f"ended {cell.number} seed {cell.seed}: {record.status}")
        self.lost = lambda cell, reason: say(f"lost {cell.number} seed {cell.seed}: {reason}")
        self.node_lost = lambda node, cells: say(f"lost {node} with {len(cells)} cells")
        self.advanced = lambda activity, done, total, detail="": None


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
        self.root, self.seed = root, seed
        self.disk = Disk(root, self._moment, self._committed)
        self.scheduler = Scheduler(seed, tell, self._watched)
        self.fates = Fates(self.scheduler, left=0)
        self.storage_fails, self.storage_silent_until = 0.0, 0.0
        self.clusters: dict[int, Cluster] = {}  # by id of the driver's process
        self.shared: Cluster | None = None  # a cluster that drivers join
        self.ray = RayModule(self.scheduler, self.clusters)
        self.promises: dict[str, invariants.Promises] = {}  # by ledger
        self.all_runs: list[Runs] = []
        self.step_seconds = 4.0
        self._num_drivers = 0
        base = root / "base"
        self._materials = Materials(
            corpus=root / "corpus", base=str(base), dev=dev_pairs(), generator=str(base),
            fingerprints={"corpus": "tiny", "base": "tiny"},
        )  # fmt: skip

    # The schedule.

    def disturbed(self) -> "World":
        """Draw what may go wrong, and how often: some schedules have many kinds of faults, some one."""
        draw, fates = self.scheduler.draw, self.fates
        fates.left = draw.choice([2, 5, 10, 20])
        for name in ("driver_dies", "worker_dies", "worker_hangs", "stalls"):
            setattr(fates, name, draw.choice([0.0, 0.0, 0.003, 0.01, 0.04]))
        fates.yields = draw.choice([0.0, 0.1, 0.5])
        self.storage_fails = draw.choice([0.0, 0.005])
        return self

    def add(
        self, name: str, *, is_serial: bool, machine: str = "a", address: str = "", stored: bool = False
    ) -> Runs:
        """Add a study on a machine; its store is the machine's."""
        location = str(self.root / "storage") if stored else ""
        checked = checked_study(name, is_serial=is_serial, storage="STORAGE" if stored else "")
        if stored:
            checked = with_storage(checked, location)
        runs = Runs(checked, self.root / machine / name, machine, address)
        self.all_runs.append(runs)
        self.promises[str(runs.folder)] = invariants.Promises(checked)
        return runs

    def play(self, *, in_turn: bool = True) -> None:
        """Run every study to its end, whatever happens; `in_turn`: those of a store one after the other."""
        (self.root / "base").mkdir()
        (self.root / "corpus").mkdir()
        (self.root / "base" / "weights").write_text("base")
        (self.root / "corpus" / "sentences").write_text("corpus")
        with substituted(self):
            if any(runs.address for runs in self.all_runs):
                self._renew_shared()
            operators = [
                self.scheduler.process(
                    "operator", "office", partial(self._operate, runs, self._before(runs, in_turn))
                )
                for runs in self.all_runs
            ]
            weather = self.scheduler.process("weather", "office", self._weather)
            self.scheduler.run(lambda: all(one.tasks[0].is_over for one in operators))
            self.scheduler.kill(weather)
            self._check_nothing_runs()
        for runs in self.all_runs:
            invariants.check_end(runs.checked, runs.folder)

    def _before(self, runs: Runs, in_turn: bool) -> list[Runs]:
        """Return the studies that must have ended before this one starts."""
        earlier = [one for one in self.all_runs if one.folder.name == BEFORE.get(runs.folder.name)]
        return [one for one in earlier if in_turn and one.machine == runs.machine]

    def _operate(self, runs: Runs, earlier: list[Runs]) -> None:
        """Give the same command until the study has ended."""
        scheduler, draw = self.scheduler, self.scheduler.draw
        scheduler.wait_until(lambda: all(OK in one.codes for one in earlier), every=60.0)
        while len(runs.codes) < MAX_RUNS:
            process = self._start(runs)
            scheduler.wait_until(lambda one=process: one.is_dead, every=20.0)
            scheduler.say(f"{process.name} has ended: {process.code}")
            runs.codes.append(process.code)
            if process.code == OK:
                return
            scheduler.pause(draw.choice([0.0, 1.0, 60.0]) + (600.0 if process.code > 0 else 0.0))
        raise Violation(f"{runs.folder.name} has not ended after {MAX_RUNS} runs: {runs.codes}")

    def _start(self, runs: Runs) -> Process:
        self._num_drivers += 1
        name = f"driver-{self._num_drivers}"
        return self.scheduler.process(name, runs.machine, partial(self._drive, runs))

    def _drive(self, runs: Runs) -> None:
        """Do what `rse-study run` does, with the exit code that it gives."""
        scheduler = self.scheduler
        assert scheduler.current is not None
        process, code = scheduler.current.process, OK
        listener = Listener(scheduler.say)
        try:
            driver.run_study(
                runs.checked, runs.folder, lambda trial: self._materials, few_once, listener,
                num_cpus=2, address=runs.address,
            )  # fmt: skip
            if runs.checked.study.grid is not None and invariants.has_failed(runs.folder):
                code = INCOMPLETE  # `run` says so; the next one tries these cells again
        except InputError as error:
            scheduler.say(f"refused: {error}")
            if BEGUN_TWICE in str(error):  # the user takes away what this machine has begun
                shutil.rmtree(runs.folder)
                self.promises[str(runs.folder)] = invariants.Promises(runs.checked)
            if not any(words in str(error) for words in REFUSALS):
                raise Violation(f"a run was refused: {error}") from error
            code = BAD_INPUT
        except Unavailable as error:
            scheduler.say(f"gave up: {error}")
            code = INCOMPLETE
        except KeyboardInterrupt:
            code = INTERRUPTED
        except (Killed, Violation):
            raise
        except BaseException as error:
            raise Violation(
                f"internal error: {type(error).__name__}: {error}\n{traceback.format_exc()}"
            ) from error
        scheduler.kill(process, code)

    def _weather(self) -> None:
        """Let things happen that no process does itself."""
        scheduler, fates, draw = self.scheduler, self.fates, self.scheduler.draw
        while True:
            scheduler.pause(draw.expovariate(1 / 60))
            drivers = [
                one for one in scheduler.pids.values() if one.name.startswith("driver") and not one.is_dead
            ]
            if not drivers:
                continue
            one = draw.choice(drivers)
            cluster = self.clusters.get(id(one))
            happening = draw.choice(["node", "join", "ray", "coordinator", "interrupt", "worker", "kill"])
            if not fates.strike(0.15):
                continue
            scheduler.say(f"{happening} at {one.name}")
            if happening == "interrupt":
                one.num_interrupts += 1
                if one.num_interrupts == 1:
                    one.interrupt()
            elif happening == "kill":
                scheduler.kill(one)
            elif cluster is None or cluster.lost_reason:
                fates.left += 1
            else:
                self._strike_cluster(cluster, happening, one)

    def _strike_cluster(self, cluster: Cluster, happening: str, driver_: Process) -> None:
        draw = self.scheduler.draw
        if happening == "ray":
            cluster.fail("its head process (GCS) ended")
        elif happening == "coordinator" and cluster.actors:
            actor = draw.choice(list(cluster.actors.values()))
            # A driver that stands still learns of no worker: one that then hangs is known to nobody (see the docs).
            if actor.instance is not None and driver_.stopped_until <= self.scheduler.now:
                actor.die()
                self.scheduler.pause(self.fates.seconds(20))
                actor.revive()
        elif happening == "worker" and cluster.nodes:
            alive = [
                one for node in cluster.nodes.values() for one in node.workers if not one.process.is_dead
            ]
            if alive:
                cluster.lose(draw.choice(alive), is_cut_off=draw.random() < 0.3)
        elif not cluster.is_own and happening == "node" and cluster.nodes:
            cluster.leave(draw.choice(list(cluster.nodes)))
            self.scheduler.task(self.scheduler.current.process, lambda: self._bring_node(cluster))
        elif not cluster.is_own and happening == "join":
            cluster.join(draw.choice([1, 2]))

    def _bring_node(self, cluster: Cluster) -> None:
        self.scheduler.pause(self.fates.seconds(120))
        cluster.join(2)

    def _renew_shared(self) -> None:
        self.shared = Cluster(self.scheduler, self.fates, [1, 2], is_own=False)

    def _check_nothing_runs(self) -> None:
        """Check that what a study started has ended soon after it."""
        until = self.scheduler.now + 3600
        self.scheduler.process("judge", "office", lambda: self.scheduler.pause(3600))
        self.scheduler.run(lambda: self.scheduler.now >= until)
        left = [one.name for one in self.scheduler.pids.values() if not one.is_dead and "worker" in one.name]
        if left:
            raise Violation(f"workers still run an hour after the end: {left}")

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
    def _process(self) -> Process:
        assert self.scheduler.current is not None
        return self.scheduler.current.process

    @contextmanager
    def ray_session(self, num_cpus: int = 0, address: str = "") -> Iterator[None]:
        if not address:
            self.clusters[id(self._process)] = Cluster(self.scheduler, self.fates, [num_cpus], is_own=True)
            yield
            return
        assert self.shared is not None
        if self.shared.lost_reason and self.scheduler.draw.random() < 0.5:
            self._renew_shared()
        with joined(self.shared, lambda: not self.shared.lost_reason):
            self.clusters[id(self._process)] = self.shared
            yield

    def probe(self) -> Cluster:
        return self.clusters[id(self._process)]

    def run_tune(self, searcher_: Any, asking: Any, callback: Any, folder: Path, resources: Any) -> None:
        tune_run(self.probe(), self.ray, searcher_, asking, callback, resources)

    def kill_pid(self, pid: int) -> None:
        self.scheduler.kill(self.scheduler.pids[pid])

    def exit(self, code: int) -> None:
        self.scheduler.kill(self._process, code)
        raise Killed

    def take_lock(self, path: Path) -> Any:
        stream = real_take_lock(path)
        self._process.locks.append(stream)
        return stream

    @contextmanager
    def graceful_interrupt(self, on_first: Callable[[], None]) -> Iterator[None]:
        self._process.interrupt = on_first
        yield

    def open_session(self, *arguments: Any) -> training.SimulatedSession:
        return training.SimulatedSession(
            self.scheduler.sleep, lambda: self.fates.seconds(self.step_seconds), *arguments
        )

    def open_objects(self, location: str) -> SlowObjects:
        objects = SlowObjects(Path(location))
        objects.world = self
        return objects


real_take_lock = lock.take_lock


@cache
def dev_pairs() -> Any:
    return few_pairs("builtin/dev")


@cache
def few_once(name: str) -> Any:
    return few(name)


def with_storage(checked: CheckedStudy, location: str) -> CheckedStudy:
    """Return the study with its files in a storage."""
    return replace(checked, study=checked.study.model_copy(update={"storage": location}))


class Proxy:
    """A module of which some functions are others."""

    def __init__(self, module: Any, **others: Any) -> None:
        self.__dict__.update(others)
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return getattr(self._module, name)


@contextmanager
def substituted(world: World) -> Iterator[None]:
    """Put the simulated parts in place of the real ones, for as long as a schedule runs."""
    scheduler = world.scheduler

    def pid() -> int:
        return scheduler.pid_of(world._process)

    def lives(pid: int) -> bool:
        return pid in scheduler.pids and not scheduler.pids[pid].is_dead

    with_pid = Proxy(os, getpid=pid)
    processes = Proxy(psutil, pid_exists=lives)
    network = Proxy(socket, gethostname=lambda: world._process.machine)
    threads = SimpleNamespace(Event=scheduler.event, Thread=scheduler.thread)
    held: dict[Path, Any] = {}
    timed = (
        searcher, lost_cells, elastic, demand, cluster_watch, runtime, tuner, coordinator, lease, storage, lock, loop
    )  # fmt: skip
    substitutes: list[tuple[Any, str, Any]] = [
        *((module, "time", scheduler) for module in timed),
        *((module, "now", scheduler.iso_now) for module in (queries, lock, writes, state, ledger)),
        *((module, "Event", scheduler.event) for module in (runtime, background, ledger_copy)),
        *((module, "Thread", scheduler.thread) for module in (driver, background, ledger_copy)),
        (cluster_watch, "threading", threads),
        (cluster_watch, "PERIOD_SECONDS", 10.0),
        (lease, "Lock", scheduler.lock),
        (lease, "os", with_pid), (lease, "psutil", processes), (lease, "socket", network),
        (workplace, "os", with_pid), (workplace, "psutil", processes), (workplace, "socket", network),
        (workplace, "Event", scheduler.event), (workplace, "Thread", scheduler.thread),
        (workplace, "cache_dir", lambda: world.root / "caches" / world._process.machine),
        (workplace, "storage_cache", lambda: world.root / "caches" / world._process.machine / "storage"),
        (driver, "storage_cache", lambda: world.root / "caches" / world._process.machine / "storage"),
        (vars(workplace.Workplace)["materials"], "lock", nullcontext()),  # cached_property's, until Python 3.12
        (node_cache, "locked", lambda path: held.setdefault(path, scheduler.lock())),
        (reporting, "os", with_pid),
        (connect, "take_lock", world.take_lock),
        (driver, "graceful_interrupt", world.graceful_interrupt),
        (runtime, "ray_session", world.ray_session),
        (runtime, "ray_output_in_file", lambda folder: nullcontext(Path("ray.txt"))),
        (runtime, "OwnRay", world.probe), (runtime, "JoinedRay", world.probe),
        (runtime, "with_parameters", partial), (runtime, "_exit", world.exit),
        (runtime, "print", lambda text, **options: scheduler.say(text)),
        (demand, "autoscaler_requests", lambda name: Proxy(None, request_resources=nothing, cancel_request=nothing)),
        (tuner, "run", world.run_tune), (tuner, "_kill", world.kill_pid), (tuner, "ray", world.ray),
        (coordinator, "ray", world.ray), (trainable, "ray", world.ray), (scoring, "ray", world.ray),
        (evaluations, "ray", world.ray), (ray, "init", nothing_real),
        (trainable, "give_back_free_memory", nothing),
        (loop, "open_session", world.open_session),
        (evaluations, "score_model", training.simulated_scores),
        (evaluations, "_scored_model", training.simulated_model),
        (storage, "open_objects", world.open_objects),
        (record, "_code_revision", lambda: "simulated"),  # `git describe` takes longer than a study here
        (sqlite3, "connect", world.disk.connect),
    ]  # fmt: skip
    missing = object()
    before = [(module, name, getattr(module, name, missing)) for module, name, _ in substitutes]
    for module, name, value in substitutes:
        setattr(module, name, value)
    try:
        yield
    finally:
        for module, name, value in before:
            delattr(module, name) if value is missing else setattr(module, name, value)


def nothing_real(*arguments: Any, **named: Any) -> None:
    """Refuse to start a real Ray."""
    raise AssertionError("a real Ray is started in a simulation")


def nothing(*arguments: Any, **named: Any) -> None:
    """Do nothing."""


@contextmanager
def fresh_folder() -> Iterator[Path]:
    """Make a folder in memory, if the machine has such a disk."""
    memory = Path("/dev/shm")
    root = Path(mkdtemp(prefix="rse-simulation-", dir=memory if memory.is_dir() else None))
    try:
        yield root
    finally:
        shutil.rmtree(root, ignore_errors=True)


@cache
def undisturbed(name: str) -> dict[str, list[str]]:
    """Return the rows that a study has if nothing happens to it and its cells run one by one."""
    with fresh_folder() as root:
        world = World(0, root)
        for one in with_earlier(name):
            runs = world.add(one, is_serial=True)
        world.play()
        return invariants.contents_of(runs.folder)


def with_earlier(name: str) -> list[str]:
    """Return the studies that a store must hold, in order: this one is the last."""
    return [*([BEFORE[name]] if name in BEFORE else []), name]


MODES = ("own", "own", "joined", "stored", "twice", "stored twice", "neighbours")
"""a Ray of its own; a cluster; a storage, too; two drivers in one folder, or at one storage; two studies in a store"""


def play(
    seed: int, tell: Callable[[str], None] | None = None, names: Sequence[str] = tuple(STUDIES)
) -> World:
    """Play the schedule of a seed, of one of these studies; raise Violation where a promise is broken."""
    with fresh_folder() as root:
        world = World(seed, root, tell).disturbed()
        draw = world.scheduler.draw
        mode, name, is_serial = draw.choice(MODES), draw.choice(names), draw.random() < 0.5
        stored, address = "stored" in mode, "" if mode in ("own", "twice") else "head:6379"
        world.scheduler.say(
            f"{mode}: {name}, {'one cell at a time' if is_serial else 'several cells at a time'}"
        )
        names = ["grid", "scored"] if mode == "neighbours" else with_earlier(name)
        for machine in ("a", "b") if mode == "stored twice" else ("a",):
            for one in names:
                world.add(one, is_serial=is_serial, machine=machine, address=address, stored=stored)
        if mode == "twice":
            world.all_runs.append(replace(world.all_runs[-1], codes=[]))
        world.play(in_turn=mode != "neighbours")
        given_up = any(invariants.has_given_up(runs.folder) for runs in world.all_runs)
        for runs in world.all_runs:
            is_same = is_serial or runs.checked.study.grid is not None
            if mode == "stored twice" and runs.checked.rungs:  # verdicts may be lost on the way, see the docs
                is_same = False
            if is_same and not given_up and runs.folder.name != "hours":
                expected = undisturbed(runs.folder.name)
                invariants.check_equal(runs.folder, expected, "beside a run without faults")
        for folder in sorted({runs.folder for runs in world.all_runs}):
            invariants.check_rebuilt(folder)
        return world
