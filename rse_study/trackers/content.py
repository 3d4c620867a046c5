"""What of a study goes into a tracker: study, trials, cells, points."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rse_study.spec import fingerprint_of

CellState = Literal["running", "interrupted", "failed", "complete", "stopped_early"]
"""Of a cell that has begun. `interrupted`: nobody runs it, and the next run takes it up."""
MOST_URGENT: tuple[CellState, ...] = ("running", "interrupted", "failed", "complete", "stopped_early")


@dataclass(frozen=True)
class TrackedPoint:
    """Numbers of a cell at one step."""

    t: int
    """Optimiser steps done."""
    at: float
    """Seconds since 1970."""
    values: Mapping[str, float]
    """By metric; NaN and infinities as they were seen."""


@dataclass(frozen=True)
class TrackedCell:
    """A cell that has begun."""

    identity: str
    name: str
    """For readers, with its seed."""
    seed: int
    stage: str
    state: CellState
    reason: str
    """Why it failed, stopped or was interrupted, or empty."""
    params: Mapping[str, Any]
    """Its values by heading of the axis, and its seed."""
    config: Mapping[str, Any]
    """The whole trial."""
    code: str
    """Revision of the code, or empty."""
    started: float
    """Seconds since 1970."""
    ended: float | None
    """The same; None while it runs."""
    points: tuple[TrackedPoint, ...]
    """By step."""
    scores: Mapping[str, float]
    """Evaluations by metric, and how long it trained (`seconds`)."""

    @property
    def last_step(self) -> int:
        """The last one that has a point."""
        return self.points[-1].t if self.points else 0

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the cell.

        Times that are computed while it runs are no part of it: its points' and its end.
        """
        points = [
            [point.t, {name: repr(value) for name, value in point.values.items()}] for point in self.points
        ]
        scores = {name: repr(value) for name, value in self.scores.items()}
        own = [self.name, self.stage, self.state, self.reason, self.code, repr(self.started)]
        return fingerprint_of([self.identity, own, repr(self.params), repr(self.config), points, scores])


@dataclass(frozen=True)
class TrackedTrial:
    """A trial with cells that have begun."""

    key: str
    """The same as long as its number, label and values are."""
    name: str
    label: str
    """Of a grid's row, or empty."""
    params: Mapping[str, Any]
    """Its values by heading of the axis."""
    cells: tuple[TrackedCell, ...]
    """By seed."""

    @property
    def state(self) -> CellState:
        """The state of its cells: the one that most asks for a look."""
        return min((cell.state for cell in self.cells), key=MOST_URGENT.index)

    @property
    def started(self) -> float:
        """When its first cell began."""
        return min(cell.started for cell in self.cells)

    @property
    def ended(self) -> float | None:
        """When its last cell ended; None while one runs."""
        ends = [cell.ended for cell in self.cells]
        return None if None in ends else max(end for end in ends if end is not None)


@dataclass(frozen=True)
class TrackedStudy:
    """A study's newest revision."""

    name: str
    question: str
    kind: str
    """grid or search"""
    objective: str
    direction: str
    revision: int
    revised: float
    """When that revision was made, in seconds since 1970."""
    code: str
    """Revision of the code that ran last, or empty."""
    resolved: Mapping[str, Any]
    """The study's file, resolved."""
    trials: tuple[TrackedTrial, ...]
    """By number."""
