"""A study submitted to a cluster with `ray job submit`, and what its driver says."""

import json
import re
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.nodes.namespaces import Node
from tests.nodes.ray_cluster import RayCluster

ENDED = ("SUCCEEDED", "FAILED", "STOPPED")
STEP = re.compile(r"^(?P<cell>.+): step (?P<t>\d+)/\d+ ")
JOB = """
import os, urllib.request as u
token = open(os.environ["RAY_AUTH_TOKEN_PATH"]).read().strip()
ask = u.Request("{url}/api/jobs/{id}", headers={{"Authorization": "Bearer " + token}})
print(u.urlopen(ask, timeout=20).read().decode())
"""


@dataclass(frozen=True)
class Line:
    """A line of the driver's, and when it was seen."""

    seconds: float
    """since the submission"""
    text: str


class Submission:
    """A study that a user's node submits to a cluster; its driver is on the head, its ledger on the head's disk.

    `store` is the folder of studies there; `job` is Ray's name of the submission.
    """

    def __init__(
        self,
        cluster: RayCluster,
        user: Node,
        study: dict[str, Any],
        storage: str,
        store: str,
        job: str,
    ) -> None:
        self._cluster, self._user, self.job = cluster, user, job
        self.folder = cluster.head.disk / store.lstrip("/") / study["name"]
        """the study's folder as the test sees it"""
        self.lines: list[Line] = []
        file = f"/tmp/{study['name']}.yaml"
        (cluster.head.disk / file.lstrip("/")).write_text(json.dumps(study), encoding="utf-8")
        run = f"rse-study run {file} --address auto --store {store} -o".split()
        self._begun = time.monotonic()
        ray_job = f"ray job submit --no-wait --address {cluster.dashboard} --submission-id {job} --".split()
        user.run([*ray_job, *run, f"storage={storage}"], timeout=120)
        self._over = Event()
        self._follower = Thread(target=self._follow, daemon=True)
        self._follower.start()

    @property
    def seconds(self) -> float:
        """Since the submission."""
        return time.monotonic() - self._begun

    @property
    def text(self) -> str:
        """All that the driver said so far, with times."""
        return "\n".join(f"{line.seconds:6.1f}  {line.text}" for line in self.lines)

    def state(self) -> dict[str, Any]:
        """What Ray says of the job: `status`, `driver_exit_code`, `message`."""
        code = JOB.format(url=self._cluster.dashboard, id=self.job)
        done = self._user.run(["python", "-c", code], check=False, timeout=60)
        return json.loads(done.stdout) if done.returncode == 0 else {"status": "UNKNOWN"}

    def wait_for(self, pattern: str, seconds: float = 300.0) -> None:
        """Wait for a line that matches; fails where none comes."""
        deadline, num_looks = time.monotonic() + seconds, 0
        while True:
            num_looks += 1
            if any(re.search(pattern, line.text) for line in list(self.lines)):
                return
            assert time.monotonic() < deadline, f"no line {pattern!r} in {seconds:g} s\n{self.text}"
            assert self._follower.is_alive(), self.text
            if num_looks % 10 == 0:  # asking starts an interpreter
                assert self.state()["status"] not in ENDED, self.text
            time.sleep(0.5)

    def finish(self, seconds: float = 1200.0) -> int:
        """Wait for the end; the driver's exit code."""
        deadline = time.monotonic() + seconds
        while (state := self.state())["status"] not in ENDED:
            assert time.monotonic() < deadline, f"{state}\n{self.text}"
            time.sleep(3.0)
        time.sleep(1.0)  # for the last lines
        self._over.set()
        self._follower.join()
        code = state.get("driver_exit_code")
        return -1 if code is None else int(code)

    def steps(self) -> dict[str, list[int]]:
        """Steps of every point that was told, in order, by the name of the cell."""
        told: dict[str, list[int]] = {}
        for line in self.lines:
            if match := STEP.match(line.text):
                told.setdefault(match["cell"], []).append(int(match["t"]))
        return told

    def _follow(self) -> None:
        for text in self._new_lines():
            self.lines.append(Line(self.seconds, text))

    def _new_lines(self) -> Iterator[str]:
        name, rest = f"job-driver-{self.job}.log", ""
        while not (logs := list((self._cluster.head.disk / "tmp/ray").glob(f"session_2*/logs/{name}"))):
            if self._over.wait(0.2):
                return
        with logs[-1].open(encoding="utf-8", errors="replace") as log:
            while True:
                over = self._over.is_set()
                rest += log.read()
                *whole, rest = rest.split("\n")
                yield from whole
                if over:
                    return
                self._over.wait(0.2)


def steps_redone(told: Iterable[list[int]]) -> int:
    """Steps of cells that were done a second time: from where a cell went on to the farthest it had come.

    >>> steps_redone([[0, 10, 20, 30, 0, 10, 20, 30, 40]])
    30
    >>> steps_redone([[0, 10, 20, 30, 20, 30, 40], [0, 10, 20]])
    10
    """
    return sum(last - t for steps in told for last, t in pairwise(steps) if t <= last)


def attempts_of(folder: Path) -> list[tuple[str, int, str, str]]:
    """Cell, number, outcome and reason of every attempt in a ledger that somebody may be writing, or still making."""
    with sqlite3.connect(f"file:{folder / 'ledger.sqlite'}?mode=ro", uri=True, timeout=10) as ledger:
        if not ledger.execute("SELECT 1 FROM sqlite_master WHERE name = 'attempt'").fetchall():
            return []
        return list(ledger.execute("SELECT cell, number, outcome, reason FROM attempt ORDER BY started"))
