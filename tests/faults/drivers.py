"""Studies run in processes of their own, and what their ledgers hold."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from rse_study.on_ray.runtime import GAVE_UP
from rse_study.results.files.schema import ledger_path
from tests.faults.run_here import run_in_world

ROOT = Path(__file__).parents[2]
# Ray's agents try for a minute to tell a cluster that is gone that they end.
PATIENCE = {"RAY_gcs_rpc_server_reconnect_timeout_s": "8"}
TIMES = {
    "started",
    "ended",
    "duration_s",
    "at",
    "provenance",
}  # what may differ between two runs of the same cells


@dataclass(frozen=True)
class Scene:
    """A study, the world it runs in, and a folder for what it needs besides."""

    study: dict
    world: Path
    home: Path

    def folder(self, name: str) -> Path:
        """A new study's folder in a store of its own, where no neighbour has run its cells before."""
        return self.home / f"store-{name}" / name

    def start(
        self, folder: Path, address: str = "", patience: Mapping[str, str] = PATIENCE, first: str = ""
    ) -> subprocess.Popen:
        """A driver of the study in `folder`, with a Ray of its own or on a cluster; `first` is Python it begins by."""
        file = self.home / f"{self.study['name']}.json"
        file.write_text(json.dumps(self.study), encoding="utf-8")
        code = f"{first}\nimport sys\nfrom tests.faults.run_here import main\nmain(*sys.argv[1:])"
        command = [sys.executable, "-c", code, str(file), str(self.world), str(folder)]
        command += [address] if address else []
        environment = {**os.environ, **patience} | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)}
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def finish_here(self, folder: Path, address: str) -> list[str]:
        """Run to the end in this process, on a cluster that runs already; what it said."""
        lines: list[str] = []
        run_in_world(self.study, self.world, folder, lines.append, address)
        return lines

    def kill_at(self, folder: Path, word: str) -> None:
        """Run, and kill the driver (SIGKILL) at the first line that holds this; its cells end with it."""
        process = self.start(folder)
        assert process.stdout is not None
        assert any(word in line for line in process.stdout), f"it never said {word!r}"
        kill(process, {"ImplicitFunc"})

    def kill_after(self, folder: Path, seconds: float) -> bool:
        """Run, and kill the driver after some seconds; False where it had ended by itself before."""
        process = self.start(folder)
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            kill(process)
            return True
        assert process.returncode == 0, said
        return False

    def act_on(self, folder: Path, acts: dict[str, Callable[[psutil.Process], None]]) -> list[str]:
        """Run to the end; at the first line that holds a key of `acts`, act on the driver's process. All lines.

        Ray has the patience it has for users: with less it ends a driver whose head was killed before we do.
        """
        process, lines, waiting = self.start(folder, patience={}), [], dict(acts)
        assert process.stdout is not None
        for line in process.stdout:
            lines.append(line.rstrip())
            for key in [key for key in waiting if key in lines[-1]]:
                waiting.pop(key)(psutil.Process(process.pid))
        code = process.wait(timeout=60)
        assert code == 0 or (code == GAVE_UP and lines[-1].startswith("gave up: ")), "\n".join(lines)
        assert not waiting, "\n".join(lines)
        return lines


def kill(process: subprocess.Popen, titles: Collection[str] = ()) -> None:
    """SIGKILL the driver alone, then wait until whatever it had started is gone too.

    With `titles` only workers of these titles are waited for; the others are killed.
    """
    driver = psutil.Process(process.pid)
    started = driver.children(recursive=True)
    awaited = [worker for title in titles for worker in workers_of(driver, title)] if titles else started
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=30)
    _, alive = psutil.wait_procs(awaited, timeout=180)
    assert not alive, f"still running after its driver was killed: {alive}"
    kill_all(started)


def kill_all(processes: Collection[psutil.Process]) -> None:
    """SIGKILL what still runs of these."""
    for process in processes:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def contents(
    folder: Path, tables: tuple[str, ...] = ("cell", "metric", "rung", "evaluation")
) -> dict[str, list]:
    """Every row of these tables, but for times: sorted, NaN as None."""
    with closing(sqlite3.connect(ledger_path(folder))) as ledger:
        ledger.row_factory = sqlite3.Row
        found = {}
        for table in tables:
            rows = [dict(row) for row in ledger.execute(f"SELECT * FROM {table}")]
            found[table] = sorted(
                repr(sorted((k, v) for k, v in row.items() if k not in TIMES)) for row in rows
            )
    return found


def assert_equal(found: dict[str, list], wanted: dict[str, list]) -> None:
    """Contents are equal; where they are not, only the rows that differ are shown."""
    differing = {
        table: {"found": sorted({*found[table]} - {*rows}), "wanted": sorted({*rows} - {*found[table]})}
        for table, rows in wanted.items()
        if found[table] != rows
    }
    assert not differing, json.dumps(differing, indent=2)


def kill_part_of_ray(driver: psutil.Process, name: str) -> None:
    """SIGKILL `raylet` or `gcs_server`, which a driver (or whoever started Ray) has as a child."""
    (part,) = (child for child in driver.children() if child.name() == name)
    part.kill()


def workers_of(driver: psutil.Process, title: str) -> list[psutil.Process]:
    """Processes of Ray below a driver whose title has this word: ImplicitFunc (trials), RayTrainWorker."""
    found = []
    for process in driver.children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if f"ray::{title}" in " ".join(process.cmdline()):
                found.append(process)
    return found
