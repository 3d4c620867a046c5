"""A cell about to run, and where a stage's cells come from."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from rse_study.results.records import CellRecord, Stage
from rse_study.study.definition.config import Resources
from rse_study.training.trial import Trial

TrialOutcome = Literal["complete", "pruned", "failed", "running"]


@dataclass(frozen=True)
class Cell:
    """A trial x seed and what it runs on."""

    number: int
    """of its trial"""
    seed: int
    """of every random draw"""
    identity: str
    """sha256 of all that decides its numbers"""
    trial: Trial
    """its whole configuration"""
    proposal: Mapping[str, Any] = field(default_factory=dict)
    """value of each axis, by the axis' name"""
    stage: Stage = "search"
    """which part of the study it belongs to"""
    label: str = ""
    """name of its row; empty where its axes name it"""
    resources: Resources = field(default_factory=Resources)
    """what it runs on"""
    continues: bool = False
    """whether it was stopped early and goes on to its full budget"""
    is_never_stopped: bool = False
    """whether it has no rungs, whatever early stopping says"""

    def record(self) -> CellRecord:
        """The cell as the ledger plans it."""
        return CellRecord(
            identity=self.identity,
            trial=self.number,
            seed=self.seed,
            stage=self.stage,
            label=self.label,
            config=self.trial.model_dump(mode="json"),
            proposal=dict(self.proposal),
        )


@dataclass(frozen=True)
class Observation:
    """What a sampler learns of a trial, or its seeds' race of a cell."""

    outcome: TrialOutcome
    values: tuple[float, ...] = ()
    """of the objectives at its last step; none unless complete"""
    violations: tuple[float, ...] = ()
    """by how much it breaks each constraint: at most 0 where it keeps to it; none unless complete"""
    was_stopped: bool = False
    """whether a cell that is complete was stopped early, and went on after the search"""


RUNNING = Observation("running")


@runtime_checkable
class CellSource(Protocol):
    """Where a stage's cells come from: a fixed list, or one proposal after the other."""

    @property
    def num_left(self) -> int:
        """Cells still to come."""

    def restore(self, record: CellRecord, seen: Observation) -> Cell | None:
        """Take in a cell that the ledger holds.

        Parameters
        ----------
        record : CellRecord
            The cell as the ledger has it.
        seen : Observation
            How it ended; RUNNING where it has no result.

        Returns
        -------
        Cell or None
            The cell itself, where it is to be run before all that `next` gives.
        """

    def next(self) -> Cell | None:
        """The next new cell; None when there is none left."""

    def observe(self, cell: Cell, seen: Observation) -> None:
        """Take in how a cell from `next` ended."""


def judged(status: str, values: Sequence[float], violations: Sequence[float] = ()) -> Observation:
    """What a sampler learns of a cell that ended.

    The values at the last step count, never the best so far; one that is missing is a failure.

    Parameters
    ----------
    status : str
        Of the cell.
    values : sequence of float
        Of the objectives; NaN where there is none.
    violations : sequence of float
        Of the constraints, by `ConstraintRecord.violation`.
    """
    if status == "stopped_early":
        return Observation("pruned")
    if status == "complete" and all(map(math.isfinite, (*values, *violations))):
        return Observation("complete", tuple(values), tuple(violations))
    return Observation("failed")
