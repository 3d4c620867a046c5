"""Cells of a study that have still to run, and the scores that it lacks."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.device_time import gpus_per_worker, seconds_of
from rse_study.results.files.backup import is_lost
from rse_study.results.files.connect import has_ledger
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder
from rse_study.results.reader import Reader, as_next_run_finds
from rse_study.results.records import FINISHED, CellRecord, Stage
from rse_study.search.state import SearchState, most_cells_by_stage
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.pending import (
    KnownCells,
    PendingRevision,
    known_cells,
    pending_revision,
    trials_by_number,
)
from rse_study.study.planning.measured import scored_by_subject
from rse_study.training.materials import PrepareMaterials
from rse_study.training.trial import Trial

LOST = (
    "its ledger is missing or empty: `run` takes its backup and the results on disk, and runs only the rest"
)


@dataclass(frozen=True)
class Left:
    """Cells that have still to run."""

    stage: Stage
    trial: Trial
    """of a search, the base: it stands for trials that nobody has proposed yet"""
    num_cells: int
    num_steps: int
    """of each cell"""
    row: str = ""
    seeds: tuple[int, ...] = ()
    """of a row of a grid"""
    copied_from: tuple[str, ...] = ()
    """studies that have run further cells of the row, which a run copies if their machine is like this one"""


@dataclass(frozen=True)
class ScoresLeft:
    """Scores that the results of a study lack."""

    missing: Mapping[str, int]
    """number of models by evaluation, those still to be trained included"""
    num_only: int = 0
    """complete cells that are only scored"""
    retrained: tuple[Left, ...] = ()
    """those of them whose model was not kept: they are trained again"""

    @property
    def num_retrained(self) -> int:
        return sum(one.num_cells for one in self.retrained)


@dataclass(frozen=True)
class LedgerState:
    """Part of a study's ledger that a plan needs; empty before its first run."""

    known: KnownCells = field(default_factory=KnownCells)
    """cells of the file's rows, or of its search"""
    state: SearchState | None = None
    scored: Mapping[str, set[str]] = field(default_factory=dict)
    """evaluations of each cell and baseline"""
    device_seconds: float = 0.0
    """over all attempts: `device_time.INCLUDED`"""
    pending: PendingRevision | None = None


@dataclass(frozen=True)
class Remaining:
    """The rest of a study, and what is known of the part that has run."""

    left: tuple[Left, ...]
    cells: tuple[CellRecord, ...]
    """cells of the study that its ledger has, with the status that the next run finds"""
    scores: ScoresLeft
    ledger: LedgerState
    notes: tuple[str, ...]
    """what a run would do to the cells that are there"""


def read_ledger(study_dir: Path, checked: CheckedStudy, prepare: PrepareMaterials | None) -> LedgerState:
    """Read the ledger in a folder, if there is one with a study in it."""
    if not has_ledger(study_dir):
        return LedgerState()
    with Reader(study_dir) as reader:
        ledger = reader.ledger
        if ledger.study() is None:  # its first run was killed before it was frozen
            return LedgerState()
        gpus = gpus_per_worker([cell.provenance for cell in ledger.cells()], ledger.provenance())
        spent = sum(seconds_of(one, gpus) for one in ledger.attempts())
        cells = as_next_run_finds(ledger.cells(), reader.study_dir)
        try:
            known = known_cells(ledger, cells, checked, prepare)
        except InputError:  # the materials are not here
            known = known_cells(ledger, cells, checked, None)
        scored = scored_by_subject(ledger, checked.own_fingerprints())
        pending = pending_revision(ledger, checked)
        return LedgerState(known, SearchState.read(reader), scored, spent, pending)


def remaining(
    checked: CheckedStudy,
    study_dir: Path,
    elsewhere: Mapping[tuple[Trial, int], str],
    num_steps: Callable[[Trial], int],
    prepare: PrepareMaterials | None = None,
) -> Remaining:
    """Return the rest of a study by its ledger in a folder.

    A run copies cells from `elsewhere`.
    """
    ledger = read_ledger(study_dir, checked, prepare)
    cells = ledger.state.cells if ledger.state else ()
    if checked.rows:
        left = tuple(rows_left(checked, ledger, elsewhere, num_steps))
        cells = tuple(one for one in ledger.known.ended.values() if one.seed in checked.study.all_seeds)
    else:
        left = tuple(stages_left(checked, ledger, num_steps(checked.study.base)))
    pending, notes = ledger.pending, list[str]()
    if pending is not None:
        notes.append(str(pending.refusal) if pending.reasons else f"revision: {pending}")
    if is_lost(study_dir):
        notes.append(LOST)
    scores = scores_left(checked, left, cells, ledger.scored, num_steps, study_dir)
    return Remaining(left, cells, scores, ledger, (*notes, *ledger.known.lines()))


def rows_left(
    checked: CheckedStudy,
    ledger: LedgerState,
    elsewhere: Mapping[tuple[Trial, int], str],
    num_steps: Callable[[Trial], int],
) -> Iterator[Left]:
    """Yield the rest of each row of a grid, with the most seeds it may get."""
    study, trials = checked.study, ledger.known.trials
    numbers = {trial: number for number, trial in trials.items()}
    ended = {(trials[number], seed) for number, seed in ledger.known.ended}
    given = ledger.state.rows if ledger.state else None
    given = given if given and given.bounds == study.seeds else None
    for row in checked.rows:
        most: Sequence[int] = study.all_seeds
        if given is not None and row.trial in numbers:
            most = given.most_seeds_of(numbers[row.trial])
        mine = [seed for seed in most if (row.trial, seed) not in ended]
        copied = {seed: elsewhere[row.trial, seed] for seed in mine if (row.trial, seed) in elsewhere}
        seeds = tuple(seed for seed in mine if seed not in copied)
        name, copies = row.label or str(row), tuple(copied.values())
        yield Left("grid", row.trial, len(seeds), num_steps(row.trial), name, seeds, copies)


def stages_left(checked: CheckedStudy, ledger: LedgerState, num_steps: int) -> Iterator[Left]:
    """Yield the rest of a search, its confirmation and its ablation path, at most."""
    study, ended, state = checked.study, Counter[Stage](), ledger.state
    most = most_cells_by_stage(study.search_settings, len(checked.space.axes))
    if state is not None:
        ended.update(cell.stage for cell in state.cells if cell.status in FINISHED)
        most = state.most_cells if ledger.pending is None else most
    for stage, number in most.items():
        yield Left(stage, study.base, max(0, number - ended[stage]), num_steps)


def scores_left(
    checked: CheckedStudy,
    left: Sequence[Left],
    cells: Sequence[CellRecord],
    scored: Mapping[str, set[str]],
    num_steps: Callable[[Trial], int],
    study_dir: Path,
) -> ScoresLeft:
    """Count the scores that are missing of the cells whose models are results."""
    names, stage = checked.study.evaluation_names, "grid" if checked.rows else "confirm"
    to_run = sum(one.num_cells for one in left if one.stage == stage)
    missing, num_only = Counter(dict.fromkeys(names, to_run)), 0
    lost, trials = Counter[Trial](), trials_by_number(cells)
    for cell in cells:
        lacking = set(names) - scored.get(cell.identity, set())
        if cell.stage == stage and cell.status == "complete" and lacking:
            missing.update(lacking)
            num_only += 1
            if not os.path.isdir(os.path.join(cell_folder(study_dir, cell.identity), MODEL_FOLDER)):
                lost[trials.get(cell.trial, checked.study.base)] += 1
    again = tuple(Left("grid", trial, number, num_steps(trial)) for trial, number in lost.items())
    return ScoresLeft({name: missing[name] for name in names if missing[name]}, num_only, again)
