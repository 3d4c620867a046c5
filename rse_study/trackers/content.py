"""The content of a study that trackers show: study, trials, cells, points."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from rse_study.spec import fingerprint_of

CellState = Literal["running", "interrupted", "failed", "complete", "stopped_early"]
"""State of a started cell; an `interrupted` one resumes with the next run."""
MOST_URGENT: tuple[CellState, ...] = ("running", "interrupted", "failed", "complete", "stopped_early")


@dataclass(frozen=True)
class TrackedPoint:
    """Metrics of a cell at one step."""

    t: int
    """Optimiser steps done."""
    at: float
    """Seconds since 1970."""
    values: Mapping[str, float]
    """By metric; NaN and infinities are kept."""


@dataclass(frozen=True)
class TrackedCell:
    """A cell that has started."""

    identity: str
    name: str
    """Readable, with its seed."""
    seed: int
    stage: str
    state: CellState
    reason: str
    """Reason why it failed, stopped or was interrupted; else empty."""
    params: Mapping[str, Any]
    """Values by axis heading, and the seed."""
    config: Mapping[str, Any]
    """The whole trial."""
    code: str
    """Code revision, or empty."""
    started: float
    """Seconds since 1970."""
    ended: float | None
    """Seconds since 1970; None while it runs."""
    points: tuple[TrackedPoint, ...]
    scores: Mapping[str, float]
    """Evaluations by metric, and training time (`seconds`)."""

    @property
    def last_step(self) -> int:
        return self.points[-1].t if self.points else 0

    @cached_property
    def digest(self) -> str:
        """Fingerprint of the cell, without estimated times, which change while it runs."""
        points = [
            [point.t, {name: repr(value) for name, value in point.values.items()}] for point in self.points
        ]
        scores = {name: repr(value) for name, value in self.scores.items()}
        own = [self.name, self.stage, self.state, self.reason, self.code, repr(self.started)]
        return fingerprint_of([self.identity, own, repr(self.params), repr(self.config), points, scores])


@dataclass(frozen=True)
class TrackedTrial:
    """A trial with at least one cell that has started."""

    key: str
    """Unchanged as long as number, label and values are."""
    name: str
    label: str
    """Label of a grid's row, or empty."""
    params: Mapping[str, Any]
    """Its values by heading of the axis."""
    cells: tuple[TrackedCell, ...]
    """Sorted by seed."""

    @property
    def state(self) -> CellState:
        """The most urgent state of its cells."""
        return min((cell.state for cell in self.cells), key=MOST_URGENT.index)

    @property
    def started(self) -> float:
        return min(cell.started for cell in self.cells)

    @property
    def ended(self) -> float | None:
        ends = [cell.ended for cell in self.cells]
        return None if None in ends else max(end for end in ends if end is not None)


@dataclass(frozen=True)
class TrackedStudy:
    """The newest revision of a study."""

    name: str
    question: str
    kind: str
    """grid or search"""
    objective: str
    direction: str
    revision: int
    revised: float
    """Seconds since 1970 at which the revision was made."""
    code: str
    """Code revision of the last run, or empty."""
    resolved: Mapping[str, Any]
    trials: tuple[TrackedTrial, ...]
    """Sorted by number."""
