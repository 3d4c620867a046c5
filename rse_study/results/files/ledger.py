"""A study's ledger in SQLite, with one writer at a time."""

import json
import sqlite3
import time
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rse_study.errors import InputError, Unavailable
from rse_study.results.files import connect
from rse_study.results.files.backup import BACKUP_SECONDS, write_backup
from rse_study.results.files.queries import LedgerQueries, now, row_of
from rse_study.results.files.result_file import Result, write_items
from rse_study.results.files.schema import baselines_folder, cell_folder, ledger_path, names_failures
from rse_study.results.records import WITHDRAWN, CellRecord, EvaluationRow, ImportanceRow, RungRow, Stage
from rse_study.results.study_record import StudyRecord
from rse_study.spec import canonical_json

FIELDS = CellRecord.model_fields
INSERT_CELL = f"INSERT INTO cell ({', '.join(FIELDS)}) VALUES ({', '.join(f':{name}' for name in FIELDS)})"

SCORE = [name for name, field in EvaluationRow.model_fields.items() if not field.exclude]
INSERT_SCORE = (
    f"INSERT OR REPLACE INTO evaluation ({', '.join(SCORE)})"
    f" VALUES ({', '.join(f':{name}' for name in SCORE)})"
)
# An evaluation is a task with its preset, or with its split if it has none (`EvaluationRow.evaluation`).
FORGET_OTHERS = (
    "DELETE FROM evaluation WHERE subject = :subject AND task = :task AND preset = :preset"
    " AND (preset != '' OR split = :split) AND fingerprint != :fingerprint"
)
INSERT_METRIC = "INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?)"


@names_failures
class Ledger(LedgerQueries):
    """A study's ledger, open for writing.

    Each method is one transaction and can be repeated. A lost ledger comes back from its backup, and from the
    results that workers have left since.
    """

    def __init__(self, connection: sqlite3.Connection, lock: TextIO, study_dir: Path) -> None:
        super().__init__(connection)
        self._lock, self.study_dir = lock, study_dir
        self._file, self._since = _file_id(ledger_path(study_dir)), now()
        self._backed_up = -1, 0.0  # changes by then, and the monotonic time

    @classmethod
    def open(cls, study_dir: Path) -> "Ledger":
        """Open the study's ledger, or create it.

        Raises InputError while another process holds it.
        """
        last_sign = connect.last_sign_of_life(study_dir)
        with ExitStack() as stack:
            lock = stack.enter_context(connect.lock_study(study_dir))
            connection = stack.enter_context(closing(connect.open_to_write(ledger_path(study_dir))))
            ledger = cls(connection, lock, study_dir)
            ledger.end_open_attempts(last_sign)
            stack.pop_all()
        return ledger

    def close(self) -> None:
        """Back up and close the ledger, and release the lock.

        A file without a frozen study is removed.
        """
        try:
            with closing(self._db):
                is_empty = self.study() is None
                self.end_open_attempts(now(), self._since)
                if not is_empty:
                    self.back_up()
            if is_empty:
                connect.remove_ledger(ledger_path(self.study_dir))
        finally:
            self._lock.close()

    def back_up(self, every: float = 0.0) -> None:
        """Write the backup if the ledger has changed, at most once in so many seconds."""
        changes, at = self._backed_up
        if self._db.total_changes != changes and time.monotonic() >= at + every:
            write_backup(self.study_dir, connect.copy_of(self._db))
            self._backed_up = self._db.total_changes, time.monotonic()

    def end_open_attempts(self, ended: str, since: str = "") -> None:
        """End attempts begun `since`; without a time, at the newest one of any attempt."""
        with self._db:
            self._db.execute(
                "UPDATE attempt SET ended = max(started, min(?2, iif(?1 > '', ?1,"
                " (SELECT max(max(started, ended)) FROM attempt))))"
                " WHERE outcome = 'running' AND ended = '' AND started >= ?3",
                (ended, now(), since),
            )

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def freeze(self, record: StudyRecord, change: str = "") -> int:
        """Add `record` as a revision if it differs from the newest; return its number."""
        # Compare it as it is read back: JSON has no tuples.
        record, newest = StudyRecord.model_validate_json(record.model_dump_json()), self.study()
        number = self.revision()
        of_file = record.model_dump(include={"file", "file_hash"})  # a copy of a file is no revision
        if newest is None or newest.model_copy(update=of_file) != record:
            number, change = number + 1, change or ("created" if newest is None else "")
            with self._db:
                values = number, now(), change, record.model_dump_json()
                self._db.execute("INSERT INTO revision VALUES (?, ?, ?, ?)", values)
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
        cells, revision = list(cells), self.revision()
        assert revision, "cells are planned after their study was frozen"
        is_retired = self.is_retired([cell.identity for cell in cells])
        changed = [cell for cell in cells if is_retired.get(cell.identity, True)]
        with self._db:
            for cell in changed:
                self._plan(
                    cell.model_copy(update={"revision": revision, "status": "planned", "retired": False})
                )

    def retire_others(self, identities: Collection[str], stage: Stage) -> None:
        """Retire the cells of this stage that are not among these.

        Call this before `plan`: a new cell may have the trial and seed of a retired one.
        """
        known = stage, json.dumps(list(identities))
        of_stage = "WHERE stage = ?1 AND identity {} (SELECT value FROM json_each(?2))"
        with self._db:  # retire first: only one cell of a trial and seed may be current
            self._db.execute(f"UPDATE cell SET retired = 1 {of_stage.format('NOT IN')}", known)
            self._db.execute(f"UPDATE cell SET retired = 0 {of_stage.format('IN')}", known)

    def claim(self, cells: Iterable[CellRecord]) -> None:
        """Move known cells of the path, and retired ones, to the stage that wants them."""
        with self._db:
            self._db.executemany(
                "UPDATE cell SET stage = :stage, trial = :trial, label = :label"
                " WHERE identity = :identity AND stage != :stage AND (stage = 'path' OR retired)",
                [cell.model_dump(include={"stage", "trial", "label", "identity"}) for cell in cells],
            )

    def start(self, identity: str, *, executor: str, workers: int, threads: int) -> int:
        """Begin the next attempt at a cell, unless complete; return its number, from 1."""
        started = now()
        with self._db:
            changed = self._db.execute(
                "UPDATE cell SET status = 'running', reason = '', started = ?, ended = ''"
                " WHERE identity = ? AND status IN ('planned', 'failed', 'stopped_early')",
                (started, identity),
            )
            assert changed.rowcount == 1, f"cell {identity} is unknown, complete or running already"
            (number,) = self._db.execute(
                "INSERT INTO attempt SELECT ?1, 1 + count(*), ?2, ?3, ?4, ?5, '', 'running', ''"
                " FROM attempt WHERE cell = ?1 RETURNING number",
                (identity, executor, workers, threads, started),
            ).fetchone()
        return int(number)

    def record_progress(self, identity: str, t: int, metrics: Mapping[str, float]) -> None:
        """Record a running cell's metrics at step `t`; ignored once the cell has ended."""
        with self._db:
            if self._is_running(identity):
                rows = [(identity, t, name, value) for name, value in metrics.items()]
                self._db.executemany(INSERT_METRIC, rows)

    def record_rung(self, row: RungRow) -> None:
        """Record a verdict; the first one at a cell's step stands."""
        with self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO rung VALUES (:cell, :t, :value, :verdict)", row.model_dump()
            )

    def record_result(self, result: Result) -> None:
        """Commit a cell's result in one transaction: history, status and reason."""
        with self._db:
            self._complete_history(result)
            self._db.execute(
                "UPDATE cell SET duration_s = ?, provenance = ? WHERE identity = ?",
                (result.duration_s, canonical_json(result.provenance), result.identity),
            )
            self._end(result.identity, result.status, result.reason)

    def fail(self, identity: str, reason: str) -> None:
        with self._db:
            self._end(identity, "failed", reason)

    def lose(self, identity: str, reason: str) -> None:
        """Record a lost attempt, which is no fault of the cell: it is planned again."""
        with self._db:
            if self._is_running(identity):
                self._lose(identity, reason)

    def close_attempts(self, reason: str) -> None:
        """Record every running attempt as lost: we hold the lock, so its run is dead."""
        with self._db:
            running = self._db.execute("SELECT identity FROM cell WHERE status = 'running'").fetchall()
            for (identity,) in running:
                self._lose(identity, reason)

    def record_evaluations(self, rows: Sequence[EvaluationRow]) -> None:
        """Record scores, replacing those of the same subject and metric, or on other data."""
        self._write_items(rows)
        values = [row.model_dump() for row in rows]
        with self._db:
            self._db.executemany(FORGET_OTHERS, values)
            self._db.executemany(INSERT_SCORE, values)

    def _write_items(self, rows: Sequence[EvaluationRow]) -> None:
        """Write the scores of single items, which no table holds, into files."""
        study, cells = self.study(), self.is_retired({row.subject for row in rows})
        if study is not None and not study.settings.keep_items:
            return
        for subject in {row.subject for row in rows if row.items is not None}:
            of_cell, of_baselines = cell_folder(self.study_dir, subject), baselines_folder(self.study_dir)
            own = [row for row in rows if row.subject == subject]
            write_items(of_cell if subject in cells else of_baselines, own)

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
            self._db.execute(
                "INSERT INTO event (at, kind, cell, text) VALUES (?, ?, ?, ?)", (now(), kind, cell, text)
            )

    def require_file(self) -> None:
        """Show life and back up; raise Unavailable if the file is another or gone."""
        if _file_id(ledger_path(self.study_dir)) != self._file:
            what = f"{ledger_path(self.study_dir)} was removed or replaced while the study ran"
            raise Unavailable(what, "Put it back, or begin anew with the same command")
        connect.show_life(self._lock)
        self.back_up(every=BACKUP_SECONDS)

    def _plan(self, cell: CellRecord) -> None:
        try:
            self._db.execute(f"{INSERT_CELL} ON CONFLICT (identity) DO UPDATE SET retired = 0", row_of(cell))
        except sqlite3.IntegrityError:
            what = f"trial {cell.trial}, seed {cell.seed} is another cell already, not {cell.identity[:16]}"
            rule = "a trial becomes another cell if the code's numbers, the corpus or the base have changed"
            remedy = "Give the study another name, or continue with what it was begun with"
            raise InputError(what, where=str(self.study_dir), rule=rule, remedy=remedy) from None

    def _is_running(self, identity: str) -> bool:
        """Whether the cell, which must be known, has an attempt under way."""
        row = self._db.execute("SELECT status FROM cell WHERE identity = ?", (identity,)).fetchone()
        assert row is not None, f"cell {identity} was never planned"
        return bool(row[0] == "running")

    def _complete_history(self, result: Result) -> None:
        """Make a cell's history that of its result; most points are there already."""
        points = {(point.t, name): value for point in result.history for name, value in point.metrics.items()}
        query = "SELECT t, name, value FROM metric WHERE cell = ?"
        known = {(t, name): value for t, name, value in self._db.execute(query, (result.identity,))}
        others = [(result.identity, *key) for key in known.keys() - points.keys()]
        self._db.executemany("DELETE FROM metric WHERE cell = ? AND t = ? AND name = ?", others)
        new = [(result.identity, *key, value) for key, value in points.items() if known.get(key) != value]
        self._db.executemany(INSERT_METRIC, new)

    def _end(self, identity: str, status: str, reason: str) -> None:
        """End a cell and its attempt under way with this status."""
        ended = now()
        changed = self._db.execute(
            "UPDATE cell SET status = ?, reason = ?, ended = ? WHERE identity = ?",
            (status, reason, ended, identity),
        )
        assert changed.rowcount == 1, f"cell {identity} was never planned"
        self._close_attempt(identity, status, reason, ended)

    def _lose(self, identity: str, reason: str) -> None:
        """End the attempt under way as lost: its cell is planned again."""
        self._db.execute("UPDATE cell SET status = 'planned', started = '' WHERE identity = ?", (identity,))
        self._close_attempt(identity, "lost", reason, now())

    def _close_attempt(self, identity: str, outcome: str, reason: str, ended: str) -> None:
        self._db.execute(
            "UPDATE attempt SET outcome = ?, reason = ?, ended = iif(ended = '', ?, ended)"
            " WHERE cell = ? AND outcome = 'running'",
            (outcome, reason, ended, identity),
        )


def _file_id(path: Path) -> tuple[int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino
