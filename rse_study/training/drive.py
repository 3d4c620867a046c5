"""Whoever runs a cell, in whichever process: every point is reported, every verdict handed back."""

from collections.abc import Callable
from contextlib import closing

from rse_study.results.records import Verdict
from rse_study.training.loop import Points, Progress

Report = Callable[[Progress], Verdict | None]


def drive(points: Points, report: Report) -> None:
    """Run `train(...)` to its end; "stop" from `report` ends the cell early."""
    verdict: Verdict | None = None
    with closing(points):
        while True:
            try:
                progress = points.send(verdict)
            except StopIteration:
                return
            verdict = report(progress)
