"""The rest of a grid: rows and seeds that have no result yet."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.records import Stage
from rse_study.results.row_names import names_of_rows
from rse_study.results.settings import UntilDecided
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.resources import Resources
from rse_study.study.planning.cost_model import Cost, CostModel, total
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
    numbered = list(_numbered(checked, found))
    rows = row_seeds(study.seeds, ledger_state, len(checked.rows))
    names = names_of_rows(numbered)
    for row, name, (number, *_) in zip(checked.rows, names, numbered, strict=True):
        mine = found.get(row.trial, {}) if found else {}
        one, now = remaining_of(ledger_state, row.trial, mine, study.all_seeds, rows, number)
        remaining.append(one)
        if found and now:
            new[name] = now
    cost = total(
        cost_model.cell(workload_of(one.trial, data_sizes)).scaled(one.range_to_run)
        for one in remaining
        if one.num_to_run
    )
    num_rows, num_seeds = len(checked.rows), len(study.all_seeds)
    return stage_of_rows("grid", study.resources, num_rows, num_seeds, remaining, cost), remaining, new


def remaining_of(
    ledger_state: LedgerState,
    trial: Trial,
    known: Mapping[int, LedgerCell],
    listed: Sequence[int],
    rows: RowSeeds | None,
    number: int,
) -> tuple[Remaining, list[int]]:
    """Return the rest of a row or confirmed trial, and the seeds that run next."""
    most = listed if rows is None else rows.most_seeds_of(number)
    wanted = most if rows is None else rows.seeds_of(number)
    cells = {seed: ledger_state.cell_for(known.get(seed), trial, seed) for seed in most}
    ended = tuple(cell for cell in cells.values() if cell is not None and has_ended(cell))
    left = [seed for seed, cell in cells.items() if not has_ended(cell)]
    now = [seed for seed in left if seed in wanted]
    return Remaining(trial, ended, len(left), len(left) - len(now)), now


def stage_of_rows(
    name: Stage, resources: Resources, num_rows: int, num_seeds: int, remaining: list[Remaining], cost: Cost
) -> StagePlan:
    """Return the plan of a stage whose rows may be decided with fewer seeds."""
    ended = [cell for one in remaining for cell in one.ended]
    num_to_run = sum(one.num_to_run for one in remaining)
    stage = stage_plan(name, resources, num_rows, num_seeds, ended, num_to_run, cost)
    num_saved = stage.num_cells - len(ended) - num_to_run
    return replace(stage, num_saved=num_saved, num_spared=sum(one.num_spared for one in remaining))


def row_seeds(
    seeds: Sequence[int] | UntilDecided, ledger_state: LedgerState, num_rows: int, first_seed: int = 0
) -> RowSeeds | None:
    """Return the seeds of rows that get them until decided, as the file has them now."""
    if not isinstance(seeds, UntilDecided):
        return None
    known = ledger_state.search.rows if ledger_state.search else None
    none_yet = RowSeeds(seeds, num_rows, None, {}, first_seed=first_seed)
    return none_yet if known is None else replace(known, bounds=seeds, num_rows=num_rows)


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
    for cell in sorted(ledger_state.cells, key=lambda cell: (cell.runs_again, cell.retired)):
        if cell.stage == "grid":
            _, cells = by_number.setdefault(cell.number, (cell.trial, {}))
            cells.setdefault(cell.seed, cell)
    return dict(by_number.values())
