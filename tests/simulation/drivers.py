"""Studies of a schedule, and the drivers that run each of them until it has ended."""

import shutil
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray import driver
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.materials import Materials
from tests.on_ray.world import few, few_pairs
from tests.simulation import invariants
from tests.simulation.scheduler import Killed, Process, Violation
from tests.simulation.studies import checked_study
from tests.simulation.substitutes import substituted
from tests.simulation.weather import weather
from tests.simulation.world import World

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
        self.message = say
        self.cells_found = lambda cells: say(f"{len(cells)} cells found")
        self.started = lambda cell: say(f"started {cell.stage} {cell.number} seed {cell.seed}")
        self.progressed = lambda cell, t, num_steps, metrics: None
        self.ended = lambda cell, record: say(f"ended {cell.number} seed {cell.seed}: {record.status}")
        self.lost = lambda cell, reason: say(f"lost {cell.number} seed {cell.seed}: {reason}")
        self.node_lost = lambda node, cells: say(f"lost {node} with {len(cells)} cells")
        self.advanced = lambda activity, done, total, detail="": None


class Drivers:
    """The studies of one schedule, and whoever starts their drivers."""

    def __init__(self, world: World) -> None:
        self.world, self.scheduler, self.promises = world, world.scheduler, world.promises
        self.all_runs: list[Runs] = []
        self._num_drivers = 0
        base = world.root / "base"
        self._materials = Materials(
            corpus=world.root / "corpus", base=str(base), dev=dev_pairs(), generator=str(base),
            fingerprints={"corpus": "tiny", "base": "tiny"},
        )  # fmt: skip

    def add(
        self, name: str, *, is_serial: bool, machine: str = "a", address: str = "", stored: bool = False
    ) -> Runs:
        """Add a study on a machine; its store is the machine's."""
        checked = checked_study(name, is_serial=is_serial, storage="STORAGE" if stored else "")
        if stored:
            study = checked.study.model_copy(update={"storage": str(self.world.root / "storage")})
            checked = replace(checked, study=study)
        return self.add_checked(checked, machine, address)

    def add_checked(self, checked: CheckedStudy, machine: str = "a", address: str = "") -> Runs:
        """Add a study that is none of the shared ones."""
        runs = Runs(checked, self.world.root / machine / checked.study.name, machine, address)
        self.all_runs.append(runs)
        self.promises[str(runs.folder)] = invariants.Promises(checked)
        return runs

    def play(self) -> None:
        """Run every study to its end, whatever happens."""
        for folder, file in (("base", "weights"), ("corpus", "sentences")):
            (self.world.root / folder).mkdir(exist_ok=True)
            (self.world.root / folder / file).write_text(folder)
        with substituted(self.world):
            if any(runs.address for runs in self.all_runs):
                self.world.renew_shared()
            operators = [
                self.scheduler.process("operator", "office", partial(self._operate, runs))
                for runs in self.all_runs
            ]
            outside = self.scheduler.process("weather", "office", partial(weather, self.world))
            self.scheduler.run(lambda: all(one.tasks[0].is_over for one in operators))
            self.scheduler.kill(outside)
            self._check_nothing_runs()
        for runs in self.all_runs:
            invariants.check_end(runs.checked, runs.folder)

    def _operate(self, runs: Runs) -> None:
        """Give the same command until the study has ended."""
        scheduler, draw = self.scheduler, self.scheduler.draw
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

    def _check_nothing_runs(self) -> None:
        """Check that what a study started has ended soon after it."""
        until = self.scheduler.now + 3600
        self.scheduler.process("judge", "office", lambda: self.scheduler.pause(3600))
        self.scheduler.run(lambda: self.scheduler.now >= until)
        left = [one.name for one in self.scheduler.pids.values() if not one.is_dead and "worker" in one.name]
        if left:
            raise Violation(f"workers still run an hour after the end: {left}")


@cache
def dev_pairs() -> Any:
    return few_pairs("builtin/dev")


@cache
def few_once(name: str) -> Any:
    return few(name)
