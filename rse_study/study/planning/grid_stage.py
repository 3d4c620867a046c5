"""The rest of a grid: rows and seeds that have no result yet."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from rse_study.results.row_names import names_of_rows
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.planning.cost_model import CostModel, total
from rse_study.study.planning.data_sizes import DataSizes
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


def plan_grid(
    checked: CheckedStudy, ledger_state: LedgerState, cost_model: CostModel, data_sizes: DataSizes
) -> tuple[StagePlan, list[Remaining], dict[str, list[int]]]:
    """Return the stage, its cells by row, and seeds to run by row if some have ended."""
    study = checked.study
    found, remaining, new = _by_trial(ledger_state), [], dict[str, list[int]]()
    names = names_of_rows(list(_numbered(checked, found)))
    for row, name in zip(checked.rows, names, strict=True):
        mine = found.get(row.trial, {}) if found else {}
        cells = {seed: ledger_state.cell_for(mine.get(seed), row.trial, seed) for seed in study.all_seeds}
        ended = tuple(cell for cell in cells.values() if cell is not None and has_ended(cell))
        remaining.append(Remaining(row.trial, ended, len(cells) - len(ended)))
        if found and len(ended) < len(cells):
            new[name] = [seed for seed, cell in cells.items() if not has_ended(cell)]
    cost = total(
        cost_model.cell(workload_of(one.trial, data_sizes)).times(one.num_to_run)
        for one in remaining
        if one.num_to_run
    )
    every = [cell for one in remaining for cell in one.ended]
    num_to_run = sum(one.num_to_run for one in remaining)
    stage = stage_plan("grid", study.resources, len(checked.rows), len(study.all_seeds), every, num_to_run, cost)
    return stage, remaining, new


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
