"""The driver's reports while a study runs, for a progress display."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from rse_study.activity import ActivityCallback
from rse_study.on_ray.queue.cell import Cell
from rse_study.results.records import CellRecord


@runtime_checkable
class StudyCallback(ActivityCallback, Protocol):
    """Receives events of cells, and the study's activities and messages."""

    def cells_found(self, cells: Sequence[Cell | CellRecord]) -> None:
        """These cells had ended before, here or in another study whose results are taken."""

    def started(self, cell: Cell) -> None:
        """A cell has started."""

    def progressed(self, cell: Cell, t: int, num_steps: int, metrics: dict[str, float]) -> None:
        """A cell reported its metrics after step `t` of `num_steps`."""

    def ended(self, cell: Cell, record: CellRecord) -> None:
        """A cell ended as `record` says."""

    def lost(self, cell: Cell, reason: str) -> None:
        """A cell's process ended without a result; it is tried again."""

    def node_lost(self, node: str, cells: Sequence[Cell]) -> None:
        """A node was lost with these cells; they are tried again."""
