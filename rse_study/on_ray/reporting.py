"""What a worker does with every point of its run: report it, and at rungs wait for the verdict."""

import os
from collections.abc import Callable
from typing import Any

from rse_study.collectives import Collectives
from rse_study.on_ray.coordinator import CoordinatorClient
from rse_study.results.records import Verdict
from rse_study.training.loop import Progress

ReportMetrics = Callable[[dict[str, Any]], None]


class Reporter:
    """Reports through `report`; at rungs rank 0 asks the desk and all workers hear the same verdict."""

    def __init__(self, config: dict[str, Any], collectives: Collectives, report: ReportMetrics) -> None:
        self._rungs = frozenset(config["rungs"])
        self._collectives, self._report = collectives, report
        self._visitor = CoordinatorClient(config["desk"], config["cell"], collectives.rank)
        self._visitor.enter(os.getpid())

    def report(self, progress: Progress) -> Verdict:
        """Report a point; the verdict on it."""
        self._report({"t": progress.t, "num_steps": progress.num_steps, "metrics": dict(progress.metrics)})
        if progress.t not in self._rungs or progress.is_final:
            return "continue"
        asks = self._collectives.rank == 0
        stops = asks and self._visitor.ask(progress.t) == "stop"
        return "stop" if self._collectives.any(stops) else "continue"
