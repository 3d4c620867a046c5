"""The driver's instructions to workers, and the exchange of cells and reports."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import TypeAdapter

from rse_study.study.definition.own_baselines import OwnBaseline
from rse_study.study.definition.parts import Resources
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Payload:
    """Instructions common to all such processes."""

    materials: str
    """file of the trial's materials: a path, or a key in the storage"""
    folder: str
    """of results: a path, or a key in the storage"""
    storage: str = ""
    """location of the storage; empty: paths are the same on all nodes"""
    patience_s: float = 0.0
    """seconds to wait for a storage that does not answer"""
    resources: Resources

    @property
    def device(self) -> str:
        return "cuda" if self.resources.gpus else "cpu"


@dataclass(frozen=True, kw_only=True)
class BaselinePayload(Payload):
    """One baseline of the base, for a task that scores it."""

    trial: Trial | OwnBaseline
    """the study's base, or an encoder of the user's own"""
    baseline: str
    """subject of its scores"""


@dataclass(frozen=True, kw_only=True)
class CellPayload(Payload):
    """One attempt at a cell."""

    trial: Trial
    cell: str
    """identity of the cell"""
    number: int
    """of the trial"""
    seed: int
    continues: bool
    """whether a cell that was stopped early now gets its full budget"""
    attempt: int
    """number of this try, from 1; 0 where the cell is only scored"""
    rungs: tuple[int, ...]
    """steps at which the loop waits for a verdict"""
    coordinator: str
    """name of the actor with the verdicts"""
    train_runs: str
    """folder for Ray Train's own notes"""
    keeps_items: bool = True
    """whether scores of single items stay with the cell"""

    def as_config(self) -> dict[str, Any]:
        """Return the plain mapping that Tune and Train pass to their functions."""
        # All of it is one text, which alone is run: Tune would take a nested mapping for a space of its own, and its
        # tables have room for what is shown beside it.
        return {"trial": self.number, "payload": _JSON.dump_json(self).decode()}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "CellPayload":
        return _JSON.validate_json(config["payload"])


_JSON = TypeAdapter(CellPayload)


Config = dict[str, Any]
PointsByKey = dict[str, Config]
"""points of a history, by unique keys"""
IS_TAKEN = "is_taken"
"""key in a cell's end if its group left silently: whether a worker had taken it"""


@dataclass
class _GroupState:
    """The current cell of one group of workers, and its reports."""

    number: int = 0
    """of its cell, counted by the group from 1"""
    cell: Config = field(default_factory=dict)
    """result of `CellPayload.as_config`; empty until known"""
    points: PointsByKey = field(default_factory=dict)
    """not yet fetched"""
    ended: Config | None = None
    is_taken: bool = False


class Exchange:
    """Hands cells to groups, and their reports to the trials that wait for them.

    Ray restarts the actor without its state and repeats calls: every call carries all that its answer needs,
    and may come twice.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._groups: dict[str, _GroupState] = {}
        self._has_cells = True

    async def reports(
        self, group: str, number: int, cell: Config, fetched: Collection[str]
    ) -> tuple[PointsByKey, Config | None]:
        """Give a group its cell; wait for its end or for points beyond those fetched."""
        async with self._changed:
            state = self._at(group, number)
            if number == state.number:
                state.cell = cell
            for key in fetched:
                state.points.pop(key, None)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: state.points or state.ended is not None)
            return dict(state.points), state.ended

    async def tell(
        self, group: str, number: int, points: PointsByKey | None = None, ended: Config | None = None
    ) -> None:
        """Note that a worker has its cell, with points of its history and how it ended.

        An answer alone proves nothing: a worker that died while it waited is answered, too.
        """
        async with self._changed:
            state = self._at(group, number)
            if state.number == number:
                state.is_taken = True
                state.points |= points or {}
                state.ended = ended or state.ended
                self._changed.notify_all()

    async def next_cell(
        self, group: str, number: int, ended: Config | None = None
    ) -> tuple[int, Config] | None:
        """Wait for the cell after this number (0 before the first); None if no more come.

        `ended` repeats how the group's last cell ended, from the worker that reports it.
        """
        if ended is not None:
            await self.tell(group, number, ended=ended)
        async with self._changed:
            state = self._groups.setdefault(group, _GroupState())
            await self._changed.wait_for(
                lambda: (state.number > number and state.cell) or not self._has_cells
            )
            return (state.number, state.cell) if state.number > number and state.cell else None

    async def leave_group(self, group: str) -> None:
        """Forget a group whose workers have gone."""
        async with self._changed:
            state = self._groups.pop(group, _GroupState())
            state.ended = state.ended or {IS_TAKEN: state.is_taken}
            self._changed.notify_all()

    async def keep_groups(self, has_cells: bool) -> None:
        """Decide whether groups without a cell wait for another, or end."""
        async with self._changed:
            self._has_cells = has_cells
            self._changed.notify_all()

    async def has_cells(self) -> bool:
        return self._has_cells

    async def num_groups(self) -> int:
        return len(self._groups)

    def _at(self, group: str, number: int) -> _GroupState:
        """Return the state of a group, moved on to the cell of this number unless it is past it.

        A worker may be the first to name a cell, where this actor was made again: its trial will ask again.
        """
        state = self._groups.setdefault(group, _GroupState())
        if number > state.number:
            state.number, state.cell, state.points, state.ended, state.is_taken = number, {}, {}, None, False
        return state
