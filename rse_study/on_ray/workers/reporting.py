"""Progress of a cell: each point is reported, and a rung waits for its verdict."""

import os
from collections.abc import Callable
from typing import Any

from rse_study.collectives import Collectives
from rse_study.on_ray.workers.coordinator import CoordinatorClient
from rse_study.on_ray.workers.payload import CellPayload
from rse_study.results.records import Verdict
from rse_study.training.loop import Progress

ReportMetrics = Callable[[dict[str, Any]], None]
SCORED = "scored"
"""the only key of a report during scoring, with the number of evaluations done: a sign of life, no point"""


class Reporter:
    """Reports every point; at rungs rank 0 asks, and all workers share the verdict."""

    def __init__(self, payload: CellPayload, collectives: Collectives, report: ReportMetrics) -> None:
        self._rungs = frozenset(payload.rungs)
        self._collectives, self._report = collectives, report
        self._coordinator = CoordinatorClient(payload.coordinator, payload.cell, collectives.rank)
        self._coordinator.enter(os.getpid())

    def report(self, progress: Progress) -> Verdict:
        self._report({"t": progress.t, "num_steps": progress.num_steps, "metrics": dict(progress.metrics)})
        if progress.t not in self._rungs or progress.is_final:
            return "continue"
        stops = self._collectives.rank == 0 and self._coordinator.wait_for_verdict(progress.t) == "stop"
        return "stop" if self._collectives.any(stops) else "continue"
