"""The ledger: one truth per study, in SQLite, with one writer at a time."""

import json
import sqlite3
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rse_study.errors import InputError
from rse_study.results.lock import take_lock
from rse_study.results.records import CellRecord, EvaluationRow, MetricRow, StudyRecord
from rse_study.results.result_file import Result
from rse_study.results.schema import SCHEMA_VERSION, TABLES, check_version, ledger_path
from rse_study.spec import canonical_json


class Ledger:
    """Everything a study knows, open for writing. Every method is one transaction and may be repeated."""

    def __init__(self, connection: sqlite3.Connection, lock: TextIO) -> None:
        self._db, self._lock = connection, lock

    @classmethod
    def open(cls, study_dir: Path) -> "Ledger":
        """Open or create the study's ledger. Raises InputError while a live process holds it."""
        try:
            study_dir.mkdir(parents=True, exist_ok=True)
            lock = take_lock(study_dir / "ledger.lock")
        except OSError as error:
            remedy = "Choose another folder, or make this one writable"
            raise InputError(
                f"no place for a ledger: {error.strerror}", where=str(study_dir), remedy=remedy
            ) from None
        path = ledger_path(study_dir)
        # One writer, not one thread: the driver's callbacks may come from another thread, one at a time.
        connection = sqlite3.connect(path, check_same_thread=False)
        try:
            if check_version(connection, path) == 0:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(f"BEGIN;{TABLES}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")
            connection.execute("PRAGMA foreign_keys = ON")
        except BaseException:
            connection.close()
            lock.close()
            raise
        return cls(connection, lock)

    def close(self) -> None:
        """Close the ledger and let go of the lock."""
        self._db.close()
        self._lock.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def freeze(self, study: StudyRecord) -> None:
        """Record what the study is; a name owns one question, so another one is refused."""
        known = self.study()
        if known is not None and known != study:
            rule = f"this folder holds the study {known.name!r} with other settings"
            raise InputError(
                "the study differs from its ledger",
                where=study.name,
                rule=rule,
                remedy="Give it another name, or restore its file",
            )
        with self._db:
            self._db.execute(
                "INSERT OR IGNORE INTO study VALUES (?, ?)", (study.name, study.model_dump_json())
            )

    def add_provenance(self, content: Mapping[str, Any]) -> None:
        """Record where this run's numbers come from: code revision, versions, machine, fingerprints."""
        with self._db:
            self._db.execute(
                "INSERT INTO provenance (at, content) VALUES (?, ?)", (now(), canonical_json(content))
            )

    def plan(self, cells: Iterable[CellRecord]) -> None:
        """Add cells that are not known yet; known ones keep everything they have."""
        rows = [
            (c.identity, c.trial, c.seed, canonical_json(c.config), canonical_json(c.proposal)) for c in cells
        ]
        with self._db:
            self._db.executemany(
                "INSERT INTO cell VALUES (?, ?, ?, ?, ?, 'planned', '', '', '', 0.0)"
                " ON CONFLICT (identity) DO NOTHING",
                rows,
            )

    def start(self, identity: str) -> None:
        """The cell runs from now on; a finished cell is left alone."""
        with self._db:
            self._db.execute(
                "UPDATE cell SET status = 'running', started = ?"
                " WHERE identity = ? AND status IN ('planned', 'running')",
                (now(), identity),
            )

    def record_result(self, result: Result) -> None:
        """Commit a cell: its whole history, how it ended and why, in one transaction."""
        with self._db:
            # A run that was resumed redoes steps; what the worker wrote last is its history.
            self._db.execute("DELETE FROM metric WHERE cell = ?", (result.identity,))
            for point in result.history:
                self._insert_metrics(result.identity, point.t, point.metrics)
            self._end(result.identity, result.status, result.reason, result.duration_s)

    def fail(self, identity: str, reason: str) -> None:
        """The cell ended without a result."""
        with self._db:
            self._end(identity, "failed", reason, 0.0)

    def record_evaluations(self, rows: Sequence[EvaluationRow]) -> None:
        """Add or replace scores of cells or baselines."""
        values = [tuple(row.model_dump().values()) for row in rows]
        with self._db:
            self._db.executemany("INSERT OR REPLACE INTO evaluation VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)

    def log(self, kind: str, text: str, cell: str = "") -> None:
        """Note an event."""
        with self._db:
            self._db.execute(
                "INSERT INTO event (at, kind, cell, text) VALUES (?, ?, ?, ?)", (now(), kind, cell, text)
            )

    def study(self) -> StudyRecord | None:
        """The frozen study; None in a new ledger."""
        row = self._db.execute("SELECT content FROM study").fetchone()
        return None if row is None else StudyRecord.model_validate_json(row[0])

    def cells(self) -> list[CellRecord]:
        """Every cell, by trial and seed."""
        cursor = self._db.execute("SELECT * FROM cell ORDER BY trial, seed")
        names = [column[0] for column in cursor.description]
        return [_read_cell(dict(zip(names, row, strict=True))) for row in cursor]

    def history(self, identity: str) -> list[MetricRow]:
        """A cell's metrics, by step and name."""
        query = "SELECT t, name, value FROM metric WHERE cell = ? ORDER BY t, name"
        return [
            MetricRow(cell=identity, t=t, name=name, value=float("nan") if value is None else value)
            for t, name, value in self._db.execute(query, (identity,))
        ]

    def _insert_metrics(self, identity: str, t: int, metrics: Mapping[str, float]) -> None:
        rows = [(identity, t, name, value) for name, value in metrics.items()]
        self._db.executemany("INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?)", rows)

    def _end(self, identity: str, status: str, reason: str, duration_s: float) -> None:
        changed = self._db.execute(
            "UPDATE cell SET status = ?, reason = ?, ended = ?, duration_s = ? WHERE identity = ?",
            (status, reason, now(), duration_s, identity),
        )
        assert changed.rowcount == 1, f"cell {identity} was never planned"


def now() -> str:
    """UTC, ISO 8601, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def _read_cell(row: dict[str, Any]) -> CellRecord:
    return CellRecord(**{**row, "config": json.loads(row["config"]), "proposal": json.loads(row["proposal"])})
