"""A cell about to run, its source, its events, and the files of results."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from rse_study.activity import ActivityCallback
from rse_study.results.records import CellRecord, Stage
from rse_study.search.choice import Observation
from rse_study.study.definition.parts import Resources
from rse_study.study.definition.paths import laid_over
from rse_study.study.definition.space import Axis
from rse_study.training.trial import Trial

Identify = Callable[[Trial, int], str]
"""Returns a cell's identity by its trial and seed."""


@dataclass(frozen=True)
class Cell:
    """A trial x seed, and the resources it runs on."""

    number: int
    """of its trial"""
    seed: int
    identity: str
    """sha256 of everything that decides its numbers"""
    trial: Trial
    proposal: Mapping[str, Any] = field(default_factory=dict)
    """value of each axis, by the axis' name"""
    stage: Stage = "search"
    label: str = ""
    """name of its row; empty where its axes name it"""
    row: str = ""
    """name of its row in the outputs of a grid, which no other row has"""
    resources: Resources = field(default_factory=Resources)
    continues: bool = False
    """whether it was stopped early and now gets its full budget"""

    def record(self) -> CellRecord:
        """Return the cell as the ledger plans it."""
        return CellRecord(
            identity=self.identity,
            trial=self.number,
            seed=self.seed,
            stage=self.stage,
            label=self.label,
            config=self.trial.model_dump(mode="json"),
            proposal=dict(self.proposal),
        )

    def shown(self, axes: Mapping[str, Axis]) -> dict[str, Any]:
        """Return what Tune's tables show: row, seed, and axes by heading."""
        held = {heading: axis for heading, axis in axes.items() if axis.name in self.proposal}
        fields = {
            path: self.proposal[axis.name]
            for axis in held.values()
            if not axis.variants
            for path in axis.paths
        }
        as_shown = Trial.model_validate(laid_over(self.trial, fields))
        assert as_shown == self.trial, f"trial {self.number} is not what its axes say"
        values = {heading: self.proposal[axis.name] for heading, axis in held.items()}
        return {**({"row": self.label} if self.label else {}), **values, "seed": self.seed}


@runtime_checkable
class CellSource(Protocol):
    """The source of a stage's cells: a fixed list, or one proposal after the other."""

    @property
    def num_left(self) -> int:
        """Number of cells still to come."""

    def restore(self, record: CellRecord, seen: Observation) -> Cell | None:
        """Take in a cell of the ledger and how it ended (RUNNING without a result).

        Returns the cell if it must run before everything that `next` returns.
        """

    def next(self) -> Cell | None:
        """Return the next new cell; None when there is none left."""

    def observe(self, cell: Cell, seen: Observation) -> None:
        """Take in how a cell from `next` ended."""


@runtime_checkable
class ResultFiles(Protocol):
    """Results as workers leave them."""

    def bring_result(self, identity: str) -> None:
        """Fetch a cell's newest result and its scores, if there are any."""

    def set_aside(self, identity: str, name: str) -> None:
        """Rename a cell's result, so that it no longer counts as one."""


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
