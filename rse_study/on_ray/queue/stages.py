"""The cells of a grid, and of a search's confirmation and ablation path."""

from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

from pydantic import ValidationError

from rse_study.on_ray.queue import Cell, Identify
from rse_study.on_ray.queue.cell_sources import wanted_cells
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import cells_for_next_run
from rse_study.results.records import BASE, FINISHED, CellRecord
from rse_study.results.row_names import names_of_rows
from rse_study.search.ablation_path import PathState
from rse_study.search.choice import TrialResult, by_trial, standings_of, trials_to_confirm
from rse_study.search.state import search_state
from rse_study.spec import canonical_json
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.trial import Trial

BASE_OUTSIDE = -1  # number of the base where it is no point of the space
FIRST_NUMBER = -2  # of a point that is no trial: trials count up from 0, and -1 is a base outside the space


def grid_cells(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return every row with the seeds that it has or is to run now."""
    cells = every_grid_cell(checked, ledger, identify)
    return wanted_cells(cells, ledger) if checked.study.gives_seeds_until_decided else cells


def every_grid_cell(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return every row with all seeds it may have; known rows keep their numbers."""
    study = checked.study
    configs = {record.trial: record.config for record in ledger.cells() if record.stage == "grid"}
    known = {_as_of_today(config): number for number, config in configs.items()}
    numbers, free = [], count(max(known.values(), default=-1) + 1)
    for row in checked.rows:
        key = canonical_json(row.trial.model_dump(mode="json"))
        if key not in known:
            known[key] = next(free)
        numbers.append(known[key])
    names = names_of_rows(
        [(n, row.label, row.proposal) for n, row in zip(numbers, checked.rows, strict=True)]
    )
    return [
        Cell(
            number=number,
            seed=seed,
            identity=identify(row.trial, seed),
            trial=row.trial,
            proposal=row.proposal,
            stage="grid",
            label=row.label,
            row=name,
            resources=study.resources,
        )
        for number, name, row in zip(numbers, names, checked.rows, strict=True)
        for seed in study.all_seeds
    ]


def _as_of_today(config: dict[str, Any]) -> str:
    """Complete an old configuration with the defaults of newer settings."""
    with suppress(ValidationError):  # today's code may have no such trial
        config = Trial.model_validate(config).model_dump(mode="json")
    return canonical_json(config)


def confirm_cells(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return the cells that confirm a search: stopped ones go on, then other seeds."""
    every = every_confirm_cell(checked, ledger, identify)
    if not checked.study.gives_seeds_until_decided:
        return every
    cells = [cell for cell in every if not cell.continues]
    return every[: len(every) - len(cells)] + wanted_cells(cells, ledger) if cells else every


def every_confirm_cell(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return the same with all seeds that trials may come to."""
    study, searched = checked.study, [cell for cell in ledger.cells() if cell.stage == "search"]
    if study.confirm is None:
        return []
    frozen = ledger.study()
    assert frozen is not None, "cells are planned after their study was frozen"
    by_number = {first.trial: first for first, *_ in by_trial(frozen, searched)}
    bases = [record.trial for record in by_number.values() if record.label == BASE]
    numbers = {record.identity: record.trial for record in searched}
    standings = standings_of(ledger)
    ended = [TrialResult(numbers[one.key], one.t, one.values, one.is_feasible) for one in standings]
    kinds = {number: first.proposal.get(study.tune_each) for number, first in by_number.items()}
    # Where each value is tuned, the base may be the best of its own.
    rivals = bases if study.confirm.baseline == "base" or not study.tuned else []
    chosen = trials_to_confirm(ended, rivals, study.confirm.num_best, study.directions, kinds)
    if study.confirm.baseline == "base":
        chosen = [*(bases or [BASE_OUTSIDE]), *chosen]
    continued = [
        _cell(checked, by_number[n], by_number[n].seed, identify, continues=True)
        for n in chosen
        if n in by_number and by_number[n].status == "stopped_early"
    ]
    seeds = study.search_settings.confirm.seeds
    cells = [_cell(checked, by_number.get(n), seed, identify) for n in chosen for seed in seeds]
    return continued + cells


def _cell(
    checked: CheckedStudy,
    record: CellRecord | None,
    seed: int,
    identify: Identify,
    *,
    continues: bool = False,
) -> Cell:
    """Return a cell of a searched trial, or of a base outside the space."""
    study, confirm = checked.study, checked.study.confirm
    proposal = checked.space.active_of(record.proposal) if record else {}
    trial = checked.space.apply(proposal)
    own = confirm.resources if confirm and not continues else None
    return Cell(
        number=record.trial if record else BASE_OUTSIDE,
        seed=seed,
        identity=identify(trial, seed),
        trial=trial,
        proposal=proposal,
        stage="search" if continues else "confirm",
        label=record.label if record else BASE,
        resources=own or study.resources,
        continues=continues,
    )


def path_rounds(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> Iterator[list[Cell]]:
    """Yield the path's cells round by round, to its end or to a round that fails.

    The next run tries what has failed again.
    """
    before: set[str] | None = None
    while checked.study.ablation_path is not None:
        known = {one.identity: one for one in cells_for_next_run(ledger, ledger.study_dir)}
        others = {name for name, one in known.items() if one.stage != "path"}
        cells = [cell for cell in path_cells(checked, ledger, identify) if cell.identity not in others]
        ended = {name for name, one in known.items() if one.status in FINISHED}
        left = {cell.identity for cell in cells} - ended
        if left == before or not (left or before is None):
            return
        yield cells
        before = left


def path_cells(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> list[Cell]:
    """Return all cells of the path known now, including confirmed ones.

    Points that are no trial have a number below 0, so that none collides with a trial of a search that grows.
    """
    records = ledger.cells()
    state = _state(checked, ledger, identify)
    path = checked.study.ablation_path
    if state is None or path is None:
        return []
    planned = [record for record in records if record.stage != "search"]
    numbers = {canonical_json(record.proposal): record.trial for record in planned}
    ends = {0: state.base.trial, len(state.axes): state.best.trial}
    free = min([FIRST_NUMBER + 1, *(record.trial for record in records)]) - 1
    cells = []
    for point in state.points:
        proposal, end = state.proposal_of(point), ends.get(len(point))
        trial = checked.space.apply(proposal)
        key = canonical_json(proposal)
        if end is None and key not in numbers:
            numbers[key], free = free, free - 1
        for seed in path.seeds:
            cells.append(
                Cell(
                    number=numbers[key] if end is None else end,
                    seed=seed,
                    identity=identify(trial, seed),
                    trial=trial,
                    proposal=proposal,
                    stage="path",
                    label=state.label_of(point),
                    resources=path.resources or checked.study.resources,
                )
            )
    return cells


def _state(checked: CheckedStudy, ledger: Ledger, identify: Identify) -> PathState | None:
    """Return the path's state, from cells whose identity today's code confirms."""

    def is_todays(record: CellRecord) -> bool:
        return identify(checked.space.apply(record.proposal), record.seed) == record.identity

    known = cells_for_next_run(ledger, ledger.study_dir)
    cells = [record for record in known if record.stage == "search" or is_todays(record)]
    return search_state(ledger, cells, is_held=True).path
