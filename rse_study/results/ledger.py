"""The ledger: one truth per study, in SQLite, with one writer at a time."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from rse_study.errors import InputError
from rse_study.results import sidecars, writes
from rse_study.results.connect import lock_study, open_to_write, remove_ledger
from rse_study.results.queries import LedgerQueries, now
from rse_study.results.records import (
    WITHDRAWN,
    CellRecord,
    EvaluationRow,
    ImportanceRow,
    Revision,
    RungRow,
    Stage,
    StudyRecord,
)
from rse_study.results.result_file import Result
from rse_study.results.schema import SCHEMA_VERSION, ledger_path
from rse_study.spec import canonical_json


class Ledger(LedgerQueries):
    """Everything a study knows, open for writing.

    Every method is one transaction and may be repeated. What it would take to rebuild the ledger is written beside it:
    study.json, and a cell.json and evaluations.json per cell.
    """

    def __init__(self, connection: sqlite3.Connection, lock: TextIO, study_dir: Path) -> None:
        super().__init__(connection)
        self._lock, self.study_dir = lock, study_dir

    @classmethod
    def open(cls, study_dir: Path) -> "Ledger":
        """Open the study's ledger, or make it.

        Raises
        ------
        InputError
            while a live process holds it.
        """
        lock = lock_study(study_dir)
        try:
            connection, found = open_to_write(ledger_path(study_dir))
        except BaseException:
            lock.close()
            raise
        ledger = cls(connection, lock, study_dir)
        if 0 < found < SCHEMA_VERSION:
            sidecars.write_everything(study_dir, ledger)
        return ledger

    def close(self) -> None:
        """Close the ledger and let go of the lock.

        One that no study was frozen in leaves no file behind.
        """
        is_empty = self.study() is None
        self._db.close()
        if is_empty:
            remove_ledger(ledger_path(self.study_dir))
        self._lock.close()

    def __enter__(self) -> "Ledger":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self.close()

    def freeze(self, record: StudyRecord, change: str = "") -> int:
        """Return the number of the revision that is `record`.

        A new one where it differs from the newest; `change` says in words how. What may change at all is decided
        before.
        """
        # As it is read back: JSON knows no tuples.
        record, newest = StudyRecord.model_validate_json(record.model_dump_json()), self.study()
        number = self._revision()
        if newest != record:
            number, change = number + 1, change or ("created" if newest is None else "")
            with self._db:
                writes.add_revision(self._db, Revision(number=number, at=now(), change=change, study=record))
        sidecars.write_study(self.study_dir, self)
        return number

    def add_provenance(self, content: Mapping[str, Any]) -> None:
        """Record where this run's numbers come from: code, versions, machine, data."""
        with self._db:
            self._db.execute(
                "INSERT INTO provenance (at, content) VALUES (?, ?)", (now(), canonical_json(content))
            )

    def last_provenance(self) -> dict[str, Any]:
        """Of the run before, nothing where there was none."""
        row = self._db.execute("SELECT content FROM provenance ORDER BY run DESC LIMIT 1").fetchone()
        return dict(json.loads(row[0])) if row else {}

    def plan(self, cells: Iterable[CellRecord]) -> None:
        """Add cells that are not known yet; known ones keep everything they have.

        They are no longer retired.

        Raises
        ------
        InputError
            where another cell has the trial and the seed of one of these.
        """
        revision, is_retired = self._revision(), self.is_retired()
        assert revision, "cells are planned after their study was frozen"
        changed = [cell for cell in cells if is_retired.get(cell.identity, True)]
        with self._db:
            for cell in changed:
                self._plan(
                    cell.model_copy(update={"revision": revision, "status": "planned", "retired": False})
                )
            # Their files before the commit: what the ledger knows can be found without it.
            sidecars.write_cells(self.study_dir, self, [cell.identity for cell in changed])

    def retire_others(self, identities: Collection[str], stage: Stage) -> None:
        """Retire the cells of this stage that are not among these.

        They are kept, but do not belong to the newest revision. Call it before `plan`: a new cell may have the trial
        and the seed of a retired one.
        """
        staged = [cell for cell in self.cells() if cell.stage == stage]
        changed = [cell for cell in staged if cell.retired == (cell.identity in identities)]
        with self._db:
            for retired in (1, 0):  # the others first: of one trial and seed, one cell is not retired
                self._db.executemany(
                    "UPDATE cell SET retired = ? WHERE identity = ?",
                    [(retired, cell.identity) for cell in changed if cell.retired != bool(retired)],
                )
            sidecars.write_cells(self.study_dir, self, [cell.identity for cell in changed])

    def claim(self, cells: Iterable[CellRecord]) -> None:
        """Have these cells belong to the stage that asks for them now.

        Of those that the ledger knows, the path's and retired ones: others stay where they are.
        """
        wanted = {cell.identity: cell for cell in cells}
        changed = [
            cell
            for cell in self.cells()
            if cell.identity in wanted
            and cell.stage != wanted[cell.identity].stage
            and (cell.stage == "path" or cell.retired)
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
        """Begin the next attempt at a cell and return its number, counted from 1.

        A complete cell never runs again.

        Parameters
        ----------
        identity
            The cell's.
        executor
            inline or train.
        workers
            How many run it.
        threads
            Of each worker.
        """
        with self._db:
            return writes.begin_attempt(self._db, identity, executor, workers, threads)

    def record_progress(self, identity: str, t: int, metrics: Mapping[str, float]) -> None:
        """Record what a running cell reported; its result replaces it.

        Too late once the cell has ended: ignored.

        Parameters
        ----------
        identity
            The cell's.
        t
            Optimiser steps done.
        metrics
            Its numbers there.
        """
        with self._db:
            if writes.is_running(self._db, identity):
                writes.add_metrics(self._db, identity, t, metrics)

    def record_rung(self, row: RungRow) -> None:
        """A verdict. The first one at a cell's step stands."""
        with self._db:
            writes.add_rung(self._db, row)

    def record_result(self, result: Result) -> None:
        """Commit a cell: its whole history, how it ended and why, in one transaction."""
        with self._db:
            # A run that was resumed redoes steps; what the worker wrote last is its history.
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
        """The cell ended for good without a result."""
        with self._db:
            writes.end_attempt(self._db, identity, "failed", reason)
        sidecars.write_cells(self.study_dir, self, [identity])

    def lose(self, identity: str, reason: str) -> None:
        """Enter that an attempt ended without a result: its cell is planned again.

        Through no fault of the cell.
        """
        with self._db:
            writes.lose_attempt(self._db, identity, reason)

    def close_attempts(self, reason: str) -> None:
        """Enter every attempt that still runs as lost, at the start of a run.

        Whoever ran them is dead: we hold the lock.
        """
        with self._db:
            writes.lose_all_attempts(self._db, reason)

    def record_evaluations(self, rows: Sequence[EvaluationRow]) -> None:
        """Add or replace scores of cells or baselines."""
        with self._db:
            writes.add_evaluations(self._db, rows)
        sidecars.write_scores(self.study_dir, self, rows)

    def withdraw_evaluations(self, subjects: Collection[str], reason: str) -> None:
        """Withdraw the scores of these subjects: they are those of other weights.

        They are kept, and nobody's until measured again.
        """
        theirs = [row for row in self.evaluations() if row.subject in subjects]
        if theirs:
            self.record_evaluations([row.model_copy(update={"fingerprint": WITHDRAWN}) for row in theirs])
            self.log("withdrawn", reason)

    def record_importance(self, rows: Sequence[ImportanceRow]) -> None:
        """Record the importance of all axes, in place of what was said before.

        By evaluator: what others than those of these rows said stays.
        """
        with self._db:
            for evaluator in {row.evaluator for row in rows}:
                self._db.execute("DELETE FROM importance WHERE evaluator = ?", (evaluator,))
            self._db.executemany(
                "INSERT INTO importance VALUES (:axis, :evaluator, :value, :low, :high, :num_trials)",
                [row.model_dump() for row in rows],
            )

    def log(self, kind: str, text: str, cell: str = "") -> None:
        """Note an event.

        Parameters
        ----------
        kind
            In one word.
        text
            What happened.
        cell
            The identity of the cell it happened to, if it was one.
        """
        with self._db:
            writes.add_event(self._db, kind, text, cell)

    def _revision(self) -> int:
        """The number of the newest revision; 0 before the first."""
        (number,) = self._db.execute("SELECT coalesce(max(number), 0) FROM revision").fetchone()
        return int(number)

    def _plan(self, cell: CellRecord) -> None:
        try:
            writes.add_cell(self._db, cell)
        except sqlite3.IntegrityError:
            what = f"trial {cell.trial}, seed {cell.seed} is another cell already, not {cell.identity[:16]}"
            rule = (
                "a trial becomes another cell where the code's numbers, the corpus or the base have changed"
            )
            remedy = "Give the study another name, or go on with what it was begun with"
            raise InputError(what, where=str(self.study_dir), rule=rule, remedy=remedy) from None
