"""A lost or damaged ledger, made again from the files beside it."""

import sqlite3
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rse_study.results import writes
from rse_study.results.connect import lock_study, open_to_write, parts_of, remove_ledger
from rse_study.results.records import CellRecord, RungRow, StudyRecord
from rse_study.results.remains import RecoveredFiles, recover_files
from rse_study.results.result_file import Result
from rse_study.results.schema import ledger_path
from rse_study.results.study_file import read_revisions


@dataclass(frozen=True)
class Rebuilt:
    """What the new ledger holds. `damaged`: every file that could not be used, and why."""

    num_cells: int
    num_results: int
    num_evaluations: int
    damaged: list[str]


def rebuild(study_dir: Path) -> Rebuilt:
    """Make the study's ledger from its study.json and the files of its cells and baselines.

    One that is there is moved aside, as ledger.sqlite.<time>. Cells without a result become planned. Attempts, events,
    importance and the provenance of runs are in no file, and are gone; a result has its own provenance.
    Raises InputError where study.json is missing or damaged, and while a live process holds the study.
    """
    read_revisions(study_dir)  # refused before a lock file is made in a folder that is no study's
    lock = lock_study(study_dir)
    try:
        remains, path = recover_files(study_dir), ledger_path(study_dir)
        draft = path.with_name(f".{path.name}.rebuilt")
        remove_ledger(draft)  # of a rebuild that was killed
        connection, _ = open_to_write(draft)
        try:
            _fill(connection, remains)
        finally:
            connection.close()
        aside = path.with_name(f"{path.name}.{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
        for part, kept in zip(parts_of(path), parts_of(aside), strict=True):
            if part.exists():
                part.replace(kept)
        draft.replace(path)
    finally:
        lock.close()
    return Rebuilt(
        num_cells=len(remains.cells),
        num_results=len(remains.results),
        num_evaluations=len(remains.evaluations),
        damaged=remains.damaged,
    )


def _fill(db: sqlite3.Connection, remains: RecoveredFiles) -> None:
    study = remains.revisions[-1].study
    with db:
        for revision in remains.revisions:
            writes.add_revision(db, revision)
        for cell in remains.cells.values():
            writes.add_cell(db, cell)
        for identity, result in remains.results.items():
            for point in result.history:
                writes.add_metrics(db, identity, point.t, point.metrics)
            for row in rungs_of(study, remains.cells[identity], result):
                writes.add_rung(db, row)
        writes.add_evaluations(db, remains.evaluations)
        told = f"from files: {len(remains.cells)} cells, {len(remains.results)} of them with a result"
        writes.add_event(db, "rebuilt", told)
        for problem in remains.damaged:
            writes.add_event(db, "damaged", problem)


def rungs_of(study: StudyRecord, cell: CellRecord, result: Result) -> list[RungRow]:
    """The verdicts a cell must have been given: "stop" where it was stopped, "continue" at every rung before."""
    if cell.stage != "search":
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
        for t in study.rungs
        if t in reached
    ]
