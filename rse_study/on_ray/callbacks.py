"""Who is told what happens, in the driver: a progress display, or nobody."""

from typing import Protocol, runtime_checkable

from rse_study.on_ray.cell import Cell
from rse_study.results.records import CellRecord


@runtime_checkable
class StudyCallback(Protocol):
    """Hears of cells and of the study as a whole."""

    def started(self, cell: Cell) -> None:
        """A cell runs."""

    def progressed(self, cell: Cell, t: int, num_steps: int, metrics: dict[str, float]) -> None:
        """A cell reported."""

    def ended(self, cell: Cell, record: CellRecord) -> None:
        """A cell ended; `record` says how."""

    def lost(self, cell: Cell, reason: str) -> None:
        """A cell's process ended without a result; it is tried again."""

    def told(self, text: str) -> None:
        """Something about the study as a whole."""
