"""The rest of a grid: rows and seeds that have no result yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.row_names import names_of_rows
from rse_study.results.settings import UntilDecided
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.cost_model import CostModel, total
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.estimates import Range
from rse_study.study.planning.ledger_state import LedgerCell, LedgerState
from rse_study.study.planning.stages import StagePlan, has_ended, stage_plan
from rse_study.study.planning.workload import workload_of
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class Remaining:
    """Cells of one trial: ended ones, and the number still to run."""

    trial: Trial
    ended: tuple[LedgerCell, ...]
    num_to_run: int
    num_spared: int = 0
    """those of them that do not run if the row is decided as early as can be"""

    @property
    def range_to_run(self) -> Range:
        """The number to run as a plan counts it: the most, unless rows are decided early."""
        return Range(self.num_to_run - self.num_spared, self.num_to_run, self.num_to_run)


def plan_grid(
    checked: CheckedStudy, ledger_state: LedgerState, cost_model: CostModel, data_sizes: DataSizes
) -> tuple[StagePlan, list[Remaining], dict[str, list[int]]]:
    """Return the stage, its cells by row, and seeds to run by row if some have ended."""
    study = checked.study
    found, remaining, new = _by_trial(ledger_state), [], dict[str, list[int]]()
    rows, numbered = _row_seeds(checked, ledger_state), list(_numbered(checked, found))
    names = names_of_rows(numbered)
    num_cells = 0
    for row, name, (number, *_) in zip(checked.rows, names, numbered, strict=True):
        mine = found.get(row.trial, {}) if found else {}
        most = study.all_seeds if rows is None else rows.most_seeds_of(number)
        wanted = most if rows is None else rows.seeds_of(number)
        cells = {seed: ledger_state.cell_for(mine.get(seed), row.trial, seed) for seed in most}
        ended = tuple(cell for cell in cells.values() if cell is not None and has_ended(cell))
        left = [seed for seed, cell in cells.items() if not has_ended(cell)]
        now = [seed for seed in left if seed in wanted]
        remaining.append(Remaining(row.trial, ended, len(left), len(left) - len(now)))
        num_cells += len(cells)
        if found and now:
            new[name] = now
    cost = total(
        cost_model.cell(workload_of(one.trial, data_sizes)).scaled(one.range_to_run)
        for one in remaining
        if one.num_to_run
    )
    every = [cell for one in remaining for cell in one.ended]
    num_to_run, num_seeds = sum(one.num_to_run for one in remaining), len(study.all_seeds)
    stage = stage_plan("grid", study.resources, len(checked.rows), num_seeds, every, num_to_run, cost)
    num_spared = sum(one.num_spared for one in remaining)
    return replace(stage, num_saved=stage.num_cells - num_cells, num_spared=num_spared), remaining, new


def _row_seeds(checked: CheckedStudy, ledger_state: LedgerState) -> RowSeeds | None:
    """Return the seeds of rows that get them until decided, as the file has them now."""
    study, known = checked.study, ledger_state.search.rows if ledger_state.search else None
    if not isinstance(study.seeds, UntilDecided):
        return None
    return replace(
        known or RowSeeds(study.seeds, 0, None, {}), bounds=study.seeds, num_rows=len(checked.rows)
    )


def _numbered(
    checked: CheckedStudy, found: Mapping[Trial, Mapping[int, LedgerCell]]
) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield number, label and values of each row; rows unknown to the ledger are numbered last."""
    numbers = {trial: next(iter(cells.values())).number for trial, cells in found.items()}
    free = count(max(numbers.values(), default=-1) + 1)
    for row in checked.rows:
        yield (numbers[row.trial] if row.trial in numbers else next(free)), row.label, row.proposal


def _by_trial(ledger_state: LedgerState) -> dict[Trial, dict[int, LedgerCell]]:
    """Return grid cells by trial and seed; a retired one counts where none replaced it."""
    by_number: dict[int, tuple[Trial, dict[int, LedgerCell]]] = {}
    for cell in sorted(ledger_state.cells, key=lambda cell: cell.retired):
        if cell.stage == "grid":
            _, cells = by_number.setdefault(cell.number, (cell.trial, {}))
            cells.setdefault(cell.seed, cell)
    return dict(by_number.values())
