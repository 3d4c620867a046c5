"""The cells of rows that get further seeds until they are decided."""

from collections.abc import Callable, Iterable, Sequence
from math import nan

from rse_study.on_ray.queue.cell import Cell
from rse_study.results.comparing.row_seeds import RowSeeds, row_seeds_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import cells_for_next_run
from rse_study.search.budget import as_far_as_it_went, budget_shares, searched_cells


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
