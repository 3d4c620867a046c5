"""CPU seconds of a command and of all its descendants, no matter who reaps them."""

import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import psutil

SECONDS_BETWEEN = 0.2
WORKER = "ray::"
"""start of a Ray worker's process title once it has work"""
ProcessKind = Literal["driver", "workers", "ray"]
ProcessKey = tuple[int, float]


@dataclass(frozen=True)
class CommandUse:
    """The time and the processes of a command."""

    wall_s: float
    cpu_s: dict[ProcessKind, float]
    """of the command itself, of Ray's workers, and of Ray's other processes"""
    num_processes: int
    returncode: int
    output: str


def run_measured(command: Sequence[str], environment: Mapping[str, str]) -> CommandUse:
    """Run a command, and watch its processes every 0.2 s."""
    begun = time.monotonic()
    with subprocess.Popen(
        command, env=dict(environment), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        watch = _Watch(psutil.Process(process.pid))
        watch.start()
        output, _ = process.communicate()
        wall = time.monotonic() - begun
        watch.stop()
    return CommandUse(wall, watch.by_kind(), len(watch.seconds), process.returncode, output)


class _Watch(threading.Thread):
    """A thread that polls the processes below one and keeps each one's last CPU time."""

    def __init__(self, root: psutil.Process) -> None:
        super().__init__(daemon=True)
        self.seconds: dict[ProcessKey, tuple[ProcessKind, float]] = {}
        self._root, self._ended = root, threading.Event()

    def run(self) -> None:
        while not self._ended.wait(SECONDS_BETWEEN):
            self._look()

    def stop(self) -> None:
        self._ended.set()
        self.join()

    def by_kind(self) -> dict[ProcessKind, float]:
        """Sum the seconds over the processes of each kind."""
        sums: dict[ProcessKind, float] = defaultdict(float)
        for kind, seconds in self.seconds.values():
            sums[kind] += seconds
        return dict(sums)

    def _look(self) -> None:
        try:
            below = self._root.children(recursive=True)
        except psutil.Error:
            return
        for process in (self._root, *below):
            try:
                times, key = process.cpu_times(), (process.pid, process.create_time())
                self.seconds[key] = self._kind(process, key), times.user + times.system
            except psutil.Error:
                continue

    def _kind(self, process: psutil.Process, key: ProcessKey) -> ProcessKind:
        if process.pid == self._root.pid:
            return "driver"
        was_worker = self.seconds.get(key, ("ray", 0.0))[0] == "workers"
        title = " ".join(process.cmdline()[:1])
        return "workers" if was_worker or title.startswith(WORKER) else "ray"
