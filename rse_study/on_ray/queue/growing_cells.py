"""A list of cells, and the seeds that rows get until they are decided."""

from collections.abc import Callable, Iterable, Sequence
from math import nan

from rse_study.on_ray.queue.cell import Cell
from rse_study.results.comparing.row_seeds import RowSeeds, row_seeds_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import cells_for_next_run
from rse_study.results.records import FINISHED, CellRecord
from rse_study.search.budget import as_far_as_it_went, budget_shares, searched_cells
from rse_study.search.choice import Observation


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


def wanted_cells(cells: Sequence[Cell], ledger: Ledger) -> list[Cell]:
    """Return those cells that rows have or are given now, until they are decided."""
    rows = _rows_of(cells, ledger)
    return [cell for cell in cells if cell.seed in rows.seeds_of(cell.number)]


class GrowingCells:
    """Tells as cells end which further ones are wanted, of all that rows may have.

    The ledger is read as a whole when the first cell ends, and then only for the cells that end.
    """

    def __init__(self, every: Callable[[], Sequence[Cell]], ledger: Ledger) -> None:
        self._every, self._ledger = every, ledger
        self._cells: dict[int, dict[int, Cell]] = {}
        self._rows: RowSeeds | None = None
        self._metric = ""

    def __call__(self, ended: Sequence[Cell]) -> list[Cell]:
        """Return the cells of the rows that these cells may have changed, and of the baseline."""
        if self._rows is None:
            every = self._every()
            for cell in every:
                self._cells.setdefault(cell.number, {})[cell.seed] = cell
            self._rows, frozen = _rows_of(every, self._ledger), self._ledger.study()
            assert frozen is not None, "cells run after their study was frozen"
            self._metric, changed = frozen.objective.metric, set(self._cells)
        else:
            changed = self._entered(self._rows, ended)
        wanted = ((row, seed) for row in sorted(changed) for seed in self._rows.seeds_of(row))
        return [self._cells[row][seed] for row, seed in wanted]

    def _entered(self, rows: RowSeeds, ended: Iterable[Cell]) -> set[int]:
        """Enter what cells came to; return the rows whose seeds may be others now."""
        changed: set[int] = set()
        names = [cell.identity for cell in ended]
        finals = self._ledger.final_values(self._metric, names)
        for record in self._ledger.cells(names):
            if record.status in ("complete", "failed", "stopped_early"):
                value = finals.get(record.identity, nan) if record.status == "complete" else nan
                changed |= rows.enter(record.trial, record.seed, value)
        return changed


def _rows_of(cells: Iterable[Cell], ledger: Ledger) -> RowSeeds:
    frozen, todays = ledger.study(), {cell.identity for cell in cells}
    assert frozen is not None, "cells are planned after their study was frozen"
    records = cells_for_next_run(ledger, ledger.study_dir)
    searched = searched_cells(records, ledger.attempts())
    study = as_far_as_it_went(frozen, searched, budget_shares(ledger))
    rows = row_seeds_of(ledger, study, [record for record in records if record.identity in todays])
    assert rows is not None, "the study was frozen with other seeds"
    return rows
