"""A cell about to run, and how one asks for cells."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, runtime_checkable

from rse_study.results.records import CellRecord, Stage
from rse_study.study.definition.config import Resources
from rse_study.training.trial import Trial

TrialOutcome = Literal["complete", "pruned", "failed", "running"]


@dataclass(frozen=True)
class Cell:
    """A trial x seed and what it runs on. `continues`: it was stopped early and goes on to its full budget."""

    number: int
    seed: int
    identity: str
    trial: Trial
    proposal: Mapping[str, Any] = field(default_factory=dict)
    stage: Stage = "search"
    label: str = ""
    resources: Resources = field(default_factory=Resources)
    continues: bool = False

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
    """Where a stage's cells come from: a list that is known beforehand, or proposals one after the other."""

    @property
    def num_left(self) -> int:
        """Cells still to be given."""

    def recall(self, record: CellRecord, outcome: TrialOutcome, value: float | None) -> Cell | None:
        """Take note of a cell the ledger holds; the cell itself where it is still to be run."""

    def give(self) -> Cell | None:
        """The next new cell; None when there is none left."""

    def tell(self, cell: Cell, outcome: TrialOutcome, value: float | None) -> None:
        """How a cell that was given ended."""


def judged(status: str, value: float | None) -> TrialOutcome:
    """What a sampler is told: the value at the last step counts, never the best so far; no value is a failure."""
    if status == "stopped_early":
        return "pruned"
    has_value = value is not None and math.isfinite(value)
    return "complete" if status == "complete" and has_value else "failed"
