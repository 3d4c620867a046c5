"""A lost or damaged ledger, made again from the files beside it."""

import sqlite3
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rse_study.errors import InputError, MissingFile
from rse_study.results.files import result_file, writes
from rse_study.results.files.cell_file import read_cell
from rse_study.results.files.connect import lock_study, open_to_write, parts_of, remove_ledger
from rse_study.results.files.evaluation_file import read_evaluations
from rse_study.results.files.result_file import Result, read_result
from rse_study.results.files.schema import baselines_folder, cells_folder, ledger_path
from rse_study.results.files.study_file import read_revisions
from rse_study.results.records import CellRecord, EvaluationRow, RungRow
from rse_study.results.study_record import Revision, StudyRecord
from rse_study.search.choice import best_known
from rse_study.search.stopping import rungs_of_trial

REMEDY = "Remove its folder and run the study again"


@dataclass(frozen=True)
class Rebuilt:
    """Counts of a rebuilt ledger, and the files that could not be used."""

    num_cells: int
    num_results: int
    num_evaluations: int
    damaged: list[str]
    """each such file, and why"""


@dataclass
class RecoveredFiles:
    """The content of a study's files without its ledger."""

    revisions: list[Revision]
    cells: dict[str, CellRecord] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    evaluations: list[EvaluationRow] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)
    """what is wrong with the files that were left out"""


def rebuild(study_dir: Path) -> Rebuilt:
    """Make the study's ledger from its study.json and the files beside it.

    An existing ledger is renamed ledger.sqlite.<time>. Cells without a result become planned; attempts,
    events, importance and the provenance of runs are in no file, and are lost. Raises InputError if
    study.json is missing or damaged, or while a live process holds the study.
    """
    read_revisions(study_dir)  # refused before a lock file is made in a folder that is no study's
    lock = lock_study(study_dir)
    try:
        files, path = recover_files(study_dir), ledger_path(study_dir)
        draft = path.with_name(f".{path.name}.rebuilt")
        remove_ledger(draft)  # of a rebuild that was killed
        connection, _ = open_to_write(draft)
        try:
            _fill(connection, files)
        finally:
            connection.close()
        aside = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        for part, moved in zip(parts_of(path), parts_of(aside), strict=True):
            if part.exists():
                part.replace(moved)
        draft.replace(path)
    finally:
        lock.close()
    return Rebuilt(
        num_cells=len(files.cells),
        num_results=len(files.results),
        num_evaluations=len(files.evaluations),
        damaged=files.damaged,
    )


def _fill(db: sqlite3.Connection, files: RecoveredFiles) -> None:
    study = files.revisions[-1].study
    with db:
        for revision in files.revisions:
            writes.add_revision(db, revision)
        for cell in files.cells.values():
            writes.add_cell(db, cell)
        for identity, result in files.results.items():
            for point in result.history:
                writes.add_metrics(db, identity, point.t, point.metrics)
            for row in rungs_of(study, files.cells[identity], result):
                writes.add_rung(db, row)
        writes.add_evaluations(db, files.evaluations)
        text = f"from files: {len(files.cells)} cells, {len(files.results)} of them with a result"
        writes.add_event(db, "rebuilt", text)
        for problem in files.damaged:
            writes.add_event(db, "damaged", problem)


def rungs_of(study: StudyRecord, cell: CellRecord, result: Result) -> list[RungRow]:
    """Return the verdicts that a cell must have been given.

    "stop" where it was stopped, "continue" at every rung before; none for further seeds of a trial and for
    the best trial that an earlier version was given from another study. What a cell that it let run on was
    told is in no file.
    """
    never_stopped = [one.proposal for one in best_known(study.known_trials, study.directions)]
    if cell.stage != "search" or cell.seed in study.further_seeds or cell.proposal in never_stopped:
        return []
    reached = {point.t: point.metrics for point in result.history}
    stopped_at = max(reached, default=-1) if result.status == "stopped_early" else -1
    return [
        RungRow(
            cell=cell.identity,
            t=t,
            value=reached[t].get(study.objective.metric, float("nan")),
            verdict="stop" if t == stopped_at else "continue",
        )
        for t in rungs_of_trial(study, cell.trial)
        if t in reached
    ]


def recover_files(study_dir: Path) -> RecoveredFiles:
    """Read everything that can be used; raise InputError if study.json cannot."""
    files, folder = RecoveredFiles(read_revisions(study_dir)), cells_folder(study_dir)
    for directory in sorted(folder.iterdir()) if folder.is_dir() else ():
        if directory.is_dir():
            _read_cell_folder(directory, files)
    try:
        files.evaluations += read_evaluations(baselines_folder(study_dir))
    except InputError as error:
        files.damaged.append(str(error))
    return files


def _read_cell_folder(directory: Path, files: RecoveredFiles) -> None:
    try:
        cell = _own_cell(directory, files)
    except MissingFile as error:
        if (directory / result_file.FILE_NAME).exists():  # else nothing is lost: its cell never ended
            files.damaged.append(str(error))
        return
    except InputError as error:
        files.damaged.append(str(error))
        return
    result = None
    try:
        result = _own_result(directory, cell)
        files.evaluations += read_evaluations(directory)
    except InputError as error:
        files.damaged.append(str(error))
    files.cells[cell.identity] = _ended(cell, result, directory)
    if result is not None:
        files.results[cell.identity] = result


def _own_cell(directory: Path, files: RecoveredFiles) -> CellRecord:
    cell = read_cell(directory)
    if cell.identity[:16] != directory.name:
        raise InputError(f"is the cell {cell.identity[:16]}", where=str(directory), remedy=REMEDY)
    twins = [c for c in files.cells.values() if (c.trial, c.seed) == (cell.trial, cell.seed)]
    if not cell.retired and any(not twin.retired for twin in twins):
        what = f"trial {cell.trial}, seed {cell.seed} is cell {twins[0].identity[:16]} already"
        raise InputError(what, where=str(directory), remedy=REMEDY)
    return cell


def _own_result(directory: Path, cell: CellRecord) -> Result | None:
    try:
        result = read_result(directory)
    except MissingFile:
        return None
    if result.identity != cell.identity:
        what, remedy = "the result of another cell", "Remove it and run the cell again"
        raise InputError(what, where=str(directory / result_file.FILE_NAME), remedy=remedy)
    return result


def _ended(cell: CellRecord, result: Result | None, directory: Path) -> CellRecord:
    """The cell as its result says it ended, since its own file may be older; planned without one."""
    if result is None:
        blank = {"status": "planned", "reason": "", "started": "", "ended": "", "duration_s": 0.0}
        return cell.model_copy(update={**blank, "provenance": {}})
    written = datetime.fromtimestamp((directory / result_file.FILE_NAME).stat().st_mtime, UTC)
    is_same = cell.status == result.status and cell.ended
    own = result.model_dump(include={"status", "reason", "duration_s", "provenance"})
    return cell.model_copy(
        update={**own, "ended": cell.ended if is_same else written.isoformat(timespec="seconds")}
    )
