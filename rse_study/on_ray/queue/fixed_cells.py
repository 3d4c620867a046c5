"""A list of cells, which may grow: a grid, or the confirmation of a search."""

from collections.abc import Callable, Sequence

from rse_study.on_ray.queue.cell import Cell
from rse_study.results.files.ledger import Ledger
from rse_study.results.records import FINISHED, CellRecord
from rse_study.search.observation import Observation


def _none(ended: Sequence[Cell]) -> tuple[Cell, ...]:
    return ()


class FixedCells:
    """A list of cells in order, all planned in the ledger before the first runs.

    If the list grows as cells end, `grown` returns those that are wanted after the cells that it is given.
    """

    def __init__(
        self, cells: Sequence[Cell], ledger: Ledger, grown: Callable[[Sequence[Cell]], Sequence[Cell]] = _none
    ) -> None:
        ledger.plan([cell.record() for cell in cells])
        self._waiting = {cell.identity: cell for cell in cells}
        self._ledger, self._grown, self._known = ledger, grown, set(self._waiting)

    @property
    def num_left(self) -> int:
        return len(self._waiting)

    def restore(self, record: CellRecord, seen: Observation) -> Cell | None:
        cell = self._waiting.get(record.identity)
        if seen.outcome != "running" and not (cell and cell.continues and seen.outcome == "pruned"):
            self._waiting.pop(record.identity, None)
        return None  # what is left of the list comes in its order

    def next(self) -> Cell | None:
        first = next(iter(self._waiting), None)
        return None if first is None else self._waiting.pop(first)

    def observe(self, cell: Cell, seen: Observation) -> None:
        ended = [cell]
        while ended:
            further = [one for one in self._grown(ended) if one.identity not in self._known]
            if not further:
                return
            self._ledger.claim([one.record() for one in further])
            self._ledger.plan([one.record() for one in further])
            ended = [one for one in further if self._has_ended(one)]
            self._waiting |= {one.identity: one for one in further if one not in ended}
            self._known |= {one.identity for one in further}

    def _has_ended(self, cell: Cell) -> bool:
        """Whether the cell ran before it was wanted, for an ablation path or an earlier revision."""
        return self._ledger.cell(cell.identity).status in FINISHED
