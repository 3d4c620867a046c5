"""Ends cells that hang: the silent process is killed and the cell tried again."""

import os
import signal
import time
from typing import Any

import ray
from ray.tune import Callback
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.workers.coordinator import Coordinator

CHECK_SECONDS = 1.0


class Watchdog(Callback):
    """Checks the running cells between two steps of Tune.

    It kills the worker, not the trial around it: Train then sees a failed worker and cleans up after itself.
    """

    def __init__(self, searcher: CellSearcher, coordinator: Coordinator) -> None:
        self._searcher, self._coordinator, self._checked = searcher, coordinator, 0.0

    def on_step_begin(self, iteration: int, trials: list[Any], **info: Any) -> None:
        """Kill the workers of silent cells, at most once a second."""
        if time.monotonic() - self._checked < CHECK_SECONDS:
            return
        self._checked = time.monotonic()
        for trial_id, cell in list(self._searcher.silent()):
            self._searcher.give_up(
                trial_id, f"said nothing for {cell.resources.max_silence_s:g} s and was ended"
            )
            for node, pid in self._coordinator.processes(cell.identity):
                _kill_on(node, pid)

    def __getstate__(self) -> dict[str, Any]:
        return {}


def _kill_on(node: str, pid: int) -> None:
    where, kill = NodeAffinitySchedulingStrategy(node_id=node, soft=False), ray.remote(_kill)
    kill.options(num_cpus=0, max_retries=0, scheduling_strategy=where).remote(pid)


def _kill(pid: int) -> None:
    # A stopped process dies of nothing less.
    os.kill(pid, signal.SIGKILL)
