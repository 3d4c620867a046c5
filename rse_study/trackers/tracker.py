"""What a tracker must do, and what it already holds of a cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import Protocol, runtime_checkable

from rse_study.trackers.content import TrackedCell, TrackedPoint, TrackedStudy, TrackedTrial

SeriesStep = tuple[str, int]
"""A metric as the tracker calls it, and a step."""


@dataclass
class Holding:
    """What a tracker has of a cell, by the names and numbers that are its own."""

    points: dict[SeriesStep, float] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    digest: str = ""
    """`TrackedCell.digest` where that was copied to its end; else empty, or an earlier one."""


@runtime_checkable
class Tracker(Protocol):
    """Where a study's ledger is copied to.

    Whoever copies calls `begin_study`, then `begin_trial` and `end_trial` around cells that are new or have changed,
    each between `begin_cell` and `end_cell`; all of it again where the ledger has grown. Between two calls the process
    may die: the next one begins anew and finds by `begin_cell` what is there.
    """

    def begin_study(self, study: TrackedStudy) -> None:
        """Find or make the study's place, and say there what the study is."""

    def begin_trial(self, trial: TrackedTrial) -> None:
        """Find or make the trial, with its values."""

    def begin_cell(self, cell: TrackedCell) -> Holding:
        """Find or make the cell, with its values; return what is there of it."""

    def metric_name(self, name: str) -> str:
        """Return what a metric is called there: names that are refused are changed."""

    def stored_value(self, value: float) -> float:
        """Return what a number is when it is read back."""

    def add_points(self, cell: TrackedCell, points: Sequence[TrackedPoint]) -> None:
        """Add points that are not there, by step."""

    def add_scores(self, cell: TrackedCell, scores: Mapping[str, float]) -> None:
        """Add scores that are not there."""

    def discard_cell(self, cell: TrackedCell) -> None:
        """Take away what is there of the cell: the ledger says something else."""

    def end_cell(self, cell: TrackedCell) -> None:
        """Say the cell's state, and that all of it is there."""

    def end_trial(self, trial: TrackedTrial) -> None:
        """Say the trial's state."""

    def close(self) -> None:
        """Finish what is open."""

    @property
    def next_step(self) -> str:
        """The command or address that shows what was copied."""


def same(one: float, other: float) -> bool:
    """Whether two numbers are equal, or both NaN."""
    return one == other or (isnan(one) and isnan(other))
