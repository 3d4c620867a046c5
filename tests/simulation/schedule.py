"""One schedule: studies, their drivers, and everything that happens to them, drawn from a seed."""

import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.simulation import invariants
from tests.simulation.drivers import Drivers
from tests.simulation.studies import STUDIES
from tests.simulation.world import World


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
        drivers = Drivers(World(0, root))
        runs = drivers.add(name, is_serial=True)
        drivers.play()
        return invariants.contents_of(runs.folder)


MODES = ("own", "own", "joined", "stored", "twice", "stored twice", "neighbours")
"""a Ray of its own; a cluster; a storage, too; two drivers in one folder, or at one storage; two studies in a store"""


def play(seed: int, tell: Callable[[str], None] | None = None, names: Sequence[str] = tuple(STUDIES)) -> None:
    """Play the schedule of a seed, of one of these studies; raise Violation where a promise is broken."""
    with fresh_folder() as root:
        world = World(seed, root, tell).disturbed()
        drivers = Drivers(world)
        draw = world.scheduler.draw
        mode, name, is_serial = draw.choice(MODES), draw.choice(names), draw.random() < 0.5
        stored, address = "stored" in mode, "" if mode in ("own", "twice") else "head:6379"
        world.scheduler.say(
            f"{mode}: {name}, {'one cell at a time' if is_serial else 'several cells at a time'}"
        )
        names = ["grid", "scored"] if mode == "neighbours" else [name]
        for machine in ("a", "b") if mode == "stored twice" else ("a",):
            for one in names:
                drivers.add(one, is_serial=is_serial, machine=machine, address=address, stored=stored)
        if mode == "twice":
            drivers.all_runs.append(replace(drivers.all_runs[-1], codes=[]))
        drivers.play()
        given_up = any(invariants.has_given_up(runs.folder) for runs in drivers.all_runs)
        for runs in drivers.all_runs:
            is_same = is_serial or runs.checked.study.grid is not None
            if mode == "stored twice" and runs.checked.rungs:  # verdicts may be lost on the way, see the docs
                is_same = False
            if is_same and not given_up and runs.folder.name != "hours":
                expected = undisturbed(runs.folder.name)
                invariants.check_equal(runs.folder, expected, "beside a run without faults")
        for folder in sorted({runs.folder for runs in drivers.all_runs}):
            invariants.check_rebuilt(folder)
