"""Cells for groups of workers that stay, and what these report.

A part of the coordinator's actor.
"""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

Config = dict[str, Any]
PointsByKey = dict[str, Config]
"""points of a history, by keys that nobody else gives"""
IS_TAKEN = "is_taken"
"""what the end of a cell says where its group has left without a word: whether a worker had taken it"""


@dataclass
class _GroupState:
    """What one group of workers has to do, and what came of it."""

    number: int = 0
    """of its cell, counted by the group from 1"""
    cell: Config = field(default_factory=dict)
    """as `CellPayload.as_config` gives it; empty until somebody says it"""
    points: PointsByKey = field(default_factory=dict)
    """that nobody has fetched"""
    ended: Config | None = None
    """how the cell ended"""
    is_taken: bool = False
    """whether a worker has the cell"""

    def begin(self, number: int, cell: Config) -> None:
        """Go on to a cell, of which nothing is known yet."""
        self.number, self.cell = number, cell
        self.points, self.ended, self.is_taken = {}, None, False


class Exchange:
    """Hands cells to groups, and their reports to the trials that wait for them.

    An actor that Ray makes again knows nothing, and Ray repeats what was asked: every call holds all that its answer
    needs, and may come twice.
    """

    def __init__(self) -> None:
        self._changed = asyncio.Condition()
        self._groups: dict[str, _GroupState] = {}
        self._has_cells = True

    async def reports(
        self, group: str, number: int, cell: Config, fetched: Collection[str]
    ) -> tuple[PointsByKey, Config | None]:
        """Give a group its cell; wait for points of it, or its end.

        Parameters
        ----------
        group : str
            Its name.
        number : int
            Of the cell among those of the group.
        cell : dict
            The cell.
        fetched : collection of str
            Keys of points that whoever asks has.
        """
        async with self._changed:
            state = self._groups.setdefault(group, _GroupState())
            if number > state.number:
                state.begin(number, cell)
            if number == state.number:
                state.cell = cell
            for key in fetched:
                state.points.pop(key, None)
            self._changed.notify_all()
            await self._changed.wait_for(lambda: state.points or state.ended is not None)
            return dict(state.points), state.ended

    async def tell(self, group: str, number: int, key: str, point: Config) -> None:
        """Take in a point of a cell's history.

        Parameters
        ----------
        group : str
            Its name.
        number : int
            Of the cell among those of the group.
        key : str
            Of the point.
        point : dict
            What is reported.
        """
        async with self._changed:
            state = self._at(group, number)
            if state.number == number:
                state.points[key] = point
                self._changed.notify_all()

    async def end(self, group: str, number: int, ended: Config) -> None:
        """Take in how a cell ended.

        Parameters
        ----------
        group : str
            Its name.
        number : int
            Of the cell among those of the group.
        ended : dict
            What its trial reports.
        """
        async with self._changed:
            state = self._at(group, number)
            if state.number == number:
                state.ended = ended
                self._changed.notify_all()

    async def next_cell(
        self, group: str, number: int, ended: Config | None = None
    ) -> tuple[int, Config] | None:
        """Wait for the cell after the one of this number; None where no more come.

        Parameters
        ----------
        group : str
            Its name.
        number : int
            Of the cell that the group had last; 0 before the first.
        ended : dict or None
            How that one ended, once more; None where this worker does not say so.
        """
        if ended is not None:
            await self.end(group, number, ended)
        async with self._changed:
            state = self._groups.setdefault(group, _GroupState())
            await self._changed.wait_for(
                lambda: (state.number > number and state.cell) or not self._has_cells
            )
            return (state.number, state.cell) if state.number > number and state.cell else None

    async def take(self, group: str, number: int) -> None:
        """Take in that a worker has its cell.

        That it was given says nothing: one that died while it waited is answered, too.

        Parameters
        ----------
        group : str
            Its name.
        number : int
            Of the cell among those of the group.
        """
        async with self._changed:
            self._at(group, number)

    async def leave_group(self, group: str) -> None:
        """Forget a group whose workers have gone."""
        async with self._changed:
            state = self._groups.pop(group, _GroupState())
            state.ended = state.ended or {IS_TAKEN: state.is_taken}
            self._changed.notify_all()

    async def forget_groups(self, cell: str) -> None:
        """Forget the groups that had this cell.

        Nobody is left who could say that they have gone.
        """
        for group in [name for name, state in self._groups.items() if state.cell.get("cell") == cell]:
            await self.leave_group(group)

    async def keep_groups(self, has_cells: bool) -> None:
        """Whether groups that have no cell wait for another, or end."""
        async with self._changed:
            self._has_cells = has_cells
            self._changed.notify_all()

    async def has_cells(self) -> bool:
        """Whether groups that have no cell wait for another."""
        return self._has_cells

    async def num_groups(self) -> int:
        """Groups that have not left."""
        return len(self._groups)

    def _at(self, group: str, number: int) -> _GroupState:
        """The state of a group, which has come to the cell of this number at least."""
        state = self._groups.setdefault(group, _GroupState())
        if number > state.number:  # this actor was made again: the group goes on, and its trial asks again
            state.begin(number, {})
        state.is_taken = state.is_taken or number == state.number
        return state
