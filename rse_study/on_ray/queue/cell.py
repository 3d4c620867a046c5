"""A cell about to run, and where a stage's cells come from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rse_study.results.records import CellRecord, Stage
from rse_study.search.observation import Observation
from rse_study.study.definition.config import Resources
from rse_study.training.trial import Trial


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
