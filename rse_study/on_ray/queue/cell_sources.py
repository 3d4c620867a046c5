"""Sources of a stage's cells: proposals of a search, or a list that may grow."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from math import nan
from typing import Any

from rse_study.errors import InputError
from rse_study.on_ray.queue import Cell, Identify
from rse_study.results.comparing.row_seeds import RowSeeds, row_seeds_of
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import cells_for_next_run
from rse_study.results.records import BASE, FINISHED, CellRecord
from rse_study.sampling.proposer import Proposer
from rse_study.search.budget import as_far_as_it_went, budget_shares, searched_cells
from rse_study.search.choice import Observation
from rse_study.study.checking.validation import CheckedStudy

MAX_DRAWS = 32
Grow = Callable[[Sequence[Cell]], Sequence[Cell]]
"""Returns the further cells that are wanted once these have ended."""


class ProposedCells:
    """The base if the space holds it, then proposals; each identity runs once."""

    def __init__(self, checked: CheckedStudy, proposer: Proposer, identify: Identify) -> None:
        self._study, self._space = checked.study, checked.space
        self._proposer, self._identify = proposer, identify
        self._known: set[str] = set()
        self._next_number = 0

    @property
    def num_left(self) -> int:
        return max(0, self._study.num_trials - self._next_number)

    def restore(self, record: CellRecord, seen: Observation) -> Cell | None:
        self._next_number = max(self._next_number, record.trial + 1)
        self._known.add(record.identity)
        self._proposer.add(record.trial, record.proposal, seen.outcome, seen.values)
        if seen.outcome != "running":
            return None
        return self._cell(record.trial, self._space.active_of(record.proposal))

    def next(self) -> Cell | None:
        if self.num_left == 0:
            return None
        cell = self._propose(self._next_number)
        self._next_number += 1
        self._known.add(cell.identity)
        return cell

    def observe(self, cell: Cell, seen: Observation) -> None:
        self._proposer.tell(cell.number, seen.outcome, seen.values)

    def _propose(self, number: int) -> Cell:
        base = self._space.base_point
        if number == 0 and base is not None:
            self._proposer.add(number, base)
            return self._cell(number, base)
        for draw in range(MAX_DRAWS):
            cell = self._cell(number, self._proposer.ask(number, draw, self._fixed(number)))
            if cell.identity not in self._known:
                return cell
            self._proposer.discard(number)  # the same identity never runs twice: draw again
        what = f"trial {number}: {MAX_DRAWS} draws gave known trials only"
        rule, remedy = "the same identity never runs twice", "Lower num_trials, or widen the space"
        raise InputError(what, where=self._study.name, rule=rule, remedy=remedy)

    def _fixed(self, number: int) -> dict[str, Any]:
        """Return the value whose turn it is, where each gets as many trials; the base has its own's first."""
        values, axis = self._study.tuned, self._study.tune_each
        if not values:
            return {}
        base = self._space.base_point
        first = values.index(base[axis]) if base is not None else 0
        return {axis: values[(first + number) % len(values)]}

    def _cell(self, number: int, proposal: Mapping[str, Any]) -> Cell:
        trial, (seed,) = self._space.apply(proposal), self._study.all_seeds
        label = BASE if dict(proposal) == self._space.base_point else ""
        identity, resources = self._identify(trial, seed), self._study.resources
        return Cell(number, seed, identity, trial, dict(proposal), label=label, resources=resources)


class FixedCells:
    """A list of cells in order, all planned in the ledger before the first runs.

    If the list grows as cells end, `grown` returns those that are wanted after the cells that it is given.
    """

    def __init__(
        self,
        cells: Sequence[Cell],
        ledger: Ledger,
        grown: Grow = lambda ended: (),
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
