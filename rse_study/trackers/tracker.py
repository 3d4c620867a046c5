"""Interface of trackers, and the content they already have of a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Protocol, runtime_checkable

from rse_study.trackers.content import TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial

SeriesStep = tuple[str, int]
"""A metric by the tracker's name, and a step."""


@dataclass
class Holding:
    """A tracker's content of a cell, with the tracker's own names and values."""

    points: dict[SeriesStep, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    digest: str = ""
    """`TrackedCell.digest` of the last complete copy, or empty."""


@runtime_checkable
class Tracker(Protocol):
    """Destination of copies of a study's ledger.

    A copier calls `begin_study`, then `begin_trial` and `end_trial` around new or changed cells, each between
    `begin_cell` and `end_cell`, and repeats this when the ledger has grown. The process may die between calls: the next
    one starts over and learns from `begin_cell` what was copied.
    """

    def begin_study(self, study: TrackedStudy) -> None:
        """Find or create the study, and describe it."""

    def begin_trial(self, trial: TrackedTrial) -> None:
        """Find or create the trial, with its values."""

    def begin_cell(self, cell: TrackedCell) -> Holding:
        """Find or create the cell, with its values; return its content."""

    def metric_name(self, name: str) -> str:
        """Return the tracker's name of a metric, which may exclude characters."""

    def stored_value(self, value: float) -> float:
        """Return the number as the tracker gives it back."""

    def add_points(self, cell: TrackedCell, points: Sequence[TrackedPoint]) -> None:
        """Add new points, by step."""

    def add_scores(self, cell: TrackedCell, scores: Mapping[str, float]) -> None:
        """Add new scores."""

    def discard_cell(self, cell: TrackedCell) -> None:
        """Remove the cell's content, which contradicts the ledger."""

    def end_cell(self, cell: TrackedCell) -> None:
        """Set the cell's state and mark its copy as complete."""

    def end_trial(self, trial: TrackedTrial) -> None:
        """Set the trial's state."""

    def close(self) -> None:
        """Finish open runs and files."""

    @property
    def next_step(self) -> str:
        """Return the command or address that shows the copy."""


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal, or both NaN."""
    return one == other or (isnan(one) and isnan(other))
