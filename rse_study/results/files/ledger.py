"""A study's ledger in SQLite, with one writer at a time."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rse_study.errors import InputError, Unavailable
from rse_study.results.files import sidecars, writes
from rse_study.results.files.connect import lock_study, open_to_write, remove_ledger, require_own
from rse_study.results.files.failures import names_failures
from rse_study.results.files.lock import last_sign_of_life, show_life
from rse_study.results.files.queries import LedgerQueries, now
from rse_study.results.files.result_file import Result
from rse_study.results.files.schema import SCHEMA_VERSION, ledger_path
from rse_study.results.records import WITHDRAWN, CellRecord, EvaluationRow, ImportanceRow, RungRow, Stage
from rse_study.results.study_record import Revision, StudyRecord
from rse_study.spec import canonical_json


@names_failures
class Ledger(LedgerQueries):
    """A study's ledger, open for writing.

    Each method is one transaction and can be repeated. study.json, and cell.json and evaluations.json per
    cell, suffice to rebuild the ledger.
    """

    def __init__(self, connection: sqlite3.Connection, lock: TextIO, study_dir: Path) -> None:
        super().__init__(connection)
        self._lock, self.study_dir = lock, study_dir
        self._file, self._since = _file_id(ledger_path(study_dir)), now()

    @classmethod
    def open(cls, study_dir: Path) -> "Ledger":
        """Open the study's ledger, or create it.

        Raises InputError while another process holds it.
        """
        last_sign = last_sign_of_life(study_dir)
        lock = lock_study(study_dir)
        try:
            connection, found = open_to_write(ledger_path(study_dir))
        except BaseException:
            lock.close()
            raise
        ledger = cls(connection, lock, study_dir)
        try:
            require_own(connection, study_dir)
        except BaseException:
            connection.close()
            lock.close()
            raise
        if 0 < found < SCHEMA_VERSION:
            sidecars.write_everything(study_dir, ledger)
        ledger._end_open_attempts(last_sign)
        return ledger

    def close(self) -> None:
        """Close the ledger and release the lock; remove a file without a frozen study."""
        is_empty = self.study() is None
        self._end_open_attempts(now(), self._since)
        self._db.close()
        if is_empty:
            remove_ledger(ledger_path(self.study_dir))
        self._lock.close()

    def _end_open_attempts(self, ended: str, since: str = "") -> None:
        with self._db:
            writes.end_open_attempts(self._db, ended, since)

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def freeze(self, record: StudyRecord, change: str = "") -> int:
        """Add `record` as a revision if it differs from the newest; return its number."""
        # Compare it as it is read back: JSON has no tuples.
        record, newest = StudyRecord.model_validate_json(record.model_dump_json()), self.study()
        number = self._revision()
        of_file = record.model_dump(include={"file", "file_hash"})  # a copy of a file is no revision
        if newest is None or newest.model_copy(update=of_file) != record:
            number, change = number + 1, change or ("created" if newest is None else "")
            with self._db:
                writes.add_revision(self._db, Revision(number=number, at=now(), change=change, study=record))
        sidecars.write_study(self.study_dir, self)
        return number

    def add_provenance(self, content: Mapping[str, Any]) -> None:
        """Record the origin of this run's numbers: code, versions, machine, data."""
        with self._db:
            self._db.execute(
                "INSERT INTO provenance (at, content) VALUES (?, ?)", (now(), canonical_json(content))
            )

    def last_provenance(self) -> dict[str, Any]:
        """Return the provenance of the previous run; empty if there was none."""
        row = self._db.execute("SELECT content FROM provenance ORDER BY run DESC LIMIT 1").fetchone()
        return dict(json.loads(row[0])) if row else {}

    def plan(self, cells: Iterable[CellRecord]) -> None:
        """Add unknown cells; known ones keep all they have and are no longer retired."""
        cells, revision = list(cells), self._revision()
        assert revision, "cells are planned after their study was frozen"
        is_retired = self.is_retired([cell.identity for cell in cells])
        changed = [cell for cell in cells if is_retired.get(cell.identity, True)]
        with self._db:
            for cell in changed:
                self._plan(
                    cell.model_copy(update={"revision": revision, "status": "planned", "retired": False})
                )
            # Write their files before the commit: a lost ledger can then be rebuilt.
            sidecars.write_cells(self.study_dir, self, [cell.identity for cell in changed])

    def retire_others(self, identities: Collection[str], stage: Stage) -> None:
        """Retire the cells of this stage that are not among these.

        Call this before `plan`: a new cell may have the trial and seed of a retired one.
        """
        staged = [cell for cell in self.cells() if cell.stage == stage]
        changed = [cell for cell in staged if cell.retired == (cell.identity in identities)]
        with self._db:
            for retired in (1, 0):  # retire first: only one cell of a trial and seed may be current
                self._db.executemany(
                    "UPDATE cell SET retired = ? WHERE identity = ?",
                    [(retired, cell.identity) for cell in changed if cell.retired != bool(retired)],
                )
            sidecars.write_cells(self.study_dir, self, [cell.identity for cell in changed])

    def claim(self, cells: Iterable[CellRecord]) -> None:
        """Move known cells of the path, and retired ones, to the stage that wants them."""
        wanted = {cell.identity: cell for cell in cells}
        changed = [
            cell
            for cell in self.cells(wanted)
            if cell.stage != wanted[cell.identity].stage and (cell.stage == "path" or cell.retired)
        ]
        with self._db:
            self._db.executemany(
                "UPDATE cell SET stage = :stage, trial = :trial, label = :label WHERE identity = :identity",
                [
                    wanted[cell.identity].model_dump(include={"stage", "trial", "label", "identity"})
                    for cell in changed
                ],
            )
            sidecars.write_cells(self.study_dir, self, [cell.identity for cell in changed])

    def start(self, identity: str, *, executor: str, workers: int, threads: int) -> int:
        """Begin the next attempt at a cell, unless complete; return its number, from 1."""
        with self._db:
            return writes.begin_attempt(self._db, identity, executor, workers, threads)

    def record_progress(self, identity: str, t: int, metrics: Mapping[str, float]) -> None:
        """Record a running cell's metrics at step `t`; ignored once the cell has ended."""
        with self._db:
            if writes.is_running(self._db, identity):
                writes.add_metrics(self._db, identity, t, metrics)

    def record_rung(self, row: RungRow) -> None:
        """Record a verdict; the first one at a cell's step stands."""
        with self._db:
            writes.add_rung(self._db, row)

    def record_result(self, result: Result) -> None:
        """Commit a cell's result in one transaction: history, status and reason."""
        with self._db:
            # A resumed run repeats steps; the worker's last result is its history.
            self._db.execute("DELETE FROM metric WHERE cell = ?", (result.identity,))
            for point in result.history:
                writes.add_metrics(self._db, result.identity, point.t, point.metrics)
            self._db.execute(
                "UPDATE cell SET duration_s = ?, provenance = ? WHERE identity = ?",
                (result.duration_s, canonical_json(result.provenance), result.identity),
            )
            writes.end_attempt(self._db, result.identity, result.status, result.reason)
        sidecars.write_cells(self.study_dir, self, [result.identity])

    def fail(self, identity: str, reason: str) -> None:
        with self._db:
            writes.end_attempt(self._db, identity, "failed", reason)
        sidecars.write_cells(self.study_dir, self, [identity])

    def lose(self, identity: str, reason: str) -> None:
        """Record a lost attempt, which is no fault of the cell: it is planned again."""
        with self._db:
            writes.lose_attempt(self._db, identity, reason)

    def close_attempts(self, reason: str) -> None:
        """Record every running attempt as lost: we hold the lock, so its run is dead."""
        with self._db:
            writes.lose_all_attempts(self._db, reason)

    def record_evaluations(self, rows: Sequence[EvaluationRow]) -> None:
        with self._db:
            writes.add_evaluations(self._db, rows)
        sidecars.write_scores(self.study_dir, self, rows)

    def withdraw_evaluations(self, subjects: Collection[str], reason: str) -> None:
        """Withdraw scores of subjects whose weights have changed; they stay on record."""
        theirs = self.evaluations(subjects)
        if theirs:
            self.record_evaluations([row.model_copy(update={"fingerprint": WITHDRAWN}) for row in theirs])
            self.log("withdrawn", reason)

    def record_importance(self, rows: Sequence[ImportanceRow]) -> None:
        """Replace the importance of all axes, for the evaluators of these rows only."""
        with self._db:
            for evaluator in {row.evaluator for row in rows}:
                self._db.execute("DELETE FROM importance WHERE evaluator = ?", (evaluator,))
            self._db.executemany(
                "INSERT INTO importance VALUES (:axis, :evaluator, :value, :low, :high, :num_trials)",
                [row.model_dump() for row in rows],
            )

    def log(self, kind: str, text: str, cell: str = "") -> None:
        with self._db:
            writes.add_event(self._db, kind, text, cell)

    def require_file(self) -> None:
        """Raise Unavailable where the ledger was removed or replaced; else show life."""
        if _file_id(ledger_path(self.study_dir)) != self._file:
            what = f"{ledger_path(self.study_dir)} was removed or replaced while the study ran"
            raise Unavailable(what, "Put it back, or begin anew with the same command")
        show_life(self._lock)

    def _revision(self) -> int:
        (number,) = self._db.execute("SELECT coalesce(max(number), 0) FROM revision").fetchone()
        return int(number)

    def _plan(self, cell: CellRecord) -> None:
        try:
            writes.add_cell(self._db, cell)
        except sqlite3.IntegrityError:
            what = f"trial {cell.trial}, seed {cell.seed} is another cell already, not {cell.identity[:16]}"
            rule = "a trial becomes another cell if the code's numbers, the corpus or the base have changed"
            remedy = "Give the study another name, or continue with what it was begun with"
            raise InputError(what, where=str(self.study_dir), rule=rule, remedy=remedy) from None


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
