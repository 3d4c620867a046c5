"""What the files of a study say without its ledger; those that are damaged are named and left out."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from rse_study.errors import InputError, MissingFile
from rse_study.results import result_file
from rse_study.results.cell_file import read_cell
from rse_study.results.evaluation_file import read_evaluations
from rse_study.results.records import CellRecord, EvaluationRow, Revision
from rse_study.results.result_file import Result, read_result
from rse_study.results.schema import baselines_folder, cells_folder
from rse_study.results.study_file import read_revisions

REMEDY = "Remove its folder and run the study again"


@dataclass
class RecoveredFiles:
    """Revisions, cells by identity, their results by identity, scores; and what is wrong with the other files."""

    revisions: list[Revision]
    cells: dict[str, CellRecord] = field(default_factory=dict)
    results: dict[str, Result] = field(default_factory=dict)
    evaluations: list[EvaluationRow] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


def recover_files(study_dir: Path) -> RecoveredFiles:
    """Everything that can be used. Raises InputError where study.json cannot."""
    remains, folder = RecoveredFiles(read_revisions(study_dir)), cells_folder(study_dir)
    for directory in sorted(folder.iterdir()) if folder.is_dir() else ():
        if directory.is_dir():
            _read_cell_folder(directory, remains)
    try:
        remains.evaluations += read_evaluations(baselines_folder(study_dir))
    except InputError as error:
        remains.damaged.append(str(error))
    return remains


def _read_cell_folder(directory: Path, remains: RecoveredFiles) -> None:
    try:
        cell = _own_cell(directory, remains)
    except MissingFile as error:
        if (directory / result_file.FILE_NAME).exists():  # else nothing is lost: its cell never ended
            remains.damaged.append(str(error))
        return
    except InputError as error:
        remains.damaged.append(str(error))
        return
    result = None
    try:
        result = _own_result(directory, cell)
        remains.evaluations += read_evaluations(directory)
    except InputError as error:
        remains.damaged.append(str(error))
    remains.cells[cell.identity] = _ended(cell, result, directory)
    if result is not None:
        remains.results[cell.identity] = result


def _own_cell(directory: Path, remains: RecoveredFiles) -> CellRecord:
    cell = read_cell(directory)
    if cell.identity[:16] != directory.name:
        raise InputError(f"is the cell {cell.identity[:16]}", where=str(directory), remedy=REMEDY)
    twins = [c for c in remains.cells.values() if (c.trial, c.seed) == (cell.trial, cell.seed)]
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
    """The cell as its result says it ended; planned without one. Its file may be older than its result."""
    if result is None:
        blank = {"status": "planned", "reason": "", "started": "", "ended": "", "duration_s": 0.0}
        return cell.model_copy(update={**blank, "provenance": {}})
    written = datetime.fromtimestamp((directory / result_file.FILE_NAME).stat().st_mtime, UTC)
    is_same = cell.status == result.status and cell.ended
    told = result.model_dump(include={"status", "reason", "duration_s", "provenance"})
    return cell.model_copy(
        update={**told, "ended": cell.ended if is_same else written.isoformat(timespec="seconds")}
    )
