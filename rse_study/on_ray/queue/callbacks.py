"""What the driver reports while a study runs: to a progress display, or nobody."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rse_study.activity import ActivityCallback
from rse_study.on_ray.queue.cell import Cell
from rse_study.results.records import CellRecord


@runtime_checkable
class StudyCallback(ActivityCallback, Protocol):
    """Gets what happens to cells, and activities and messages of the study as a whole."""

    def cells_found(self, cells: Sequence[Cell]) -> None:
        """The results of these cells were there, and they are not run: another study had."""

    def started(self, cell: Cell) -> None:
        """A cell runs."""

    def progressed(self, cell: Cell, t: int, num_steps: int, metrics: dict[str, float]) -> None:
        """A cell reported a point of its history.

        Parameters
        ----------
        cell : Cell
            Which one.
        t : int
            Optimiser steps it has done.
        num_steps : int
            Steps of its whole budget.
        metrics : dict
            Loss, dev score and what else was measured at `t`, by name.
        """

    def ended(self, cell: Cell, record: CellRecord) -> None:
        """A cell ended; `record` says how."""

    def lost(self, cell: Cell, reason: str) -> None:
        """A cell's process ended without a result; it is tried again."""

    def node_lost(self, node: str, cells: Sequence[Cell]) -> None:
        """A node was lost, and these cells with it; they are tried again."""
