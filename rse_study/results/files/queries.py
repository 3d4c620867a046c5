"""Rows of a ledger as records, for its writer, its readers and a rebuild."""

import json
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from rse_study.errors import InputError
from rse_study.results import records
from rse_study.results.files.result_file import WORK
from rse_study.results.files.schema import names_failures
from rse_study.results.study_record import AT_CHECKPOINT, StudyRecord
from rse_study.spec import canonical_json

# The first one goes on while the machine sleeps; not every system has it.
STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
BEGUN = time.time() - time.clock_gettime(STEADY)
COST_COLUMNS = {
    "cost/work": f"CAST(json_extract(provenance, '$.{WORK}') AS REAL)",
    "cost/seconds": "duration_s",
}


CHECKPOINT_VALUES = f"""
SELECT kept.cell, last, metric.value FROM metric JOIN (
    SELECT cell, t, max(t) OVER (PARTITION BY cell) AS last, row_number() OVER (
        PARTITION BY cell
        ORDER BY CASE json_extract(config, '$.selection.keep') WHEN 'last' THEN t END DESC, value DESC, t
    ) AS place
    FROM metric JOIN cell ON cell = identity WHERE name = '{records.SELECTING}' AND t > 0 %s
) AS kept USING (cell, t) WHERE place = 1 AND name = ?1
"""
"""Each cell's value of a metric when the model that it keeps was saved, as `training.session` chooses it."""


@names_failures
class LedgerQueries:
    """Queries of a ledger's tables, as records of their newest state."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._db = connection

    def study(self) -> StudyRecord | None:
        row = self._db.execute("SELECT study FROM revision ORDER BY number DESC LIMIT 1").fetchone()
        return None if row is None else StudyRecord.model_validate_json(row[0])

    def frozen_study(self, where: str) -> StudyRecord:
        """Return the newest revision; InputError naming `where` if there is none."""
        study = self.study()
        if study is None:
            raise InputError("the ledger holds no study yet", where=where, remedy="Run the study first")
        return study

    def revision(self) -> int:
        """Return the number of the newest revision; 0 if there is none."""
        (number,) = self._db.execute("SELECT coalesce(max(number), 0) FROM revision").fetchone()
        return int(number)

    def cells(
        self, among: Collection[str] | None = None, settings: Sequence[str] = ()
    ) -> list[records.CellRecord]:
        """Return every cell, also retired ones, or those `among` these, by trial and seed.

        With `settings`, the configurations hold these alone (None where one has no such setting): most of the time
        that it takes to read thousands of cells goes into their configurations.
        """
        order, read = "ORDER BY trial, seed, retired, identity", cache(json.loads)
        table = _with_settings(settings) if settings else "cell"
        return [
            cell_of(row, read) for row in self._rows_of(f"SELECT * FROM {table}", "identity", among, order)
        ]

    def is_retired(self, among: Collection[str] | None = None) -> dict[str, bool]:
        """Return whether each known cell, or each `among` these, is retired, by identity."""
        rows = self._rows_of("SELECT identity, retired FROM cell", "identity", among)
        return {row["identity"]: bool(row["retired"]) for row in rows}

    def cell(self, identity: str) -> records.CellRecord:
        """Return the cell of this identity, which the ledger must know."""
        rows = list(self._rows("SELECT * FROM cell WHERE identity = ?", identity))
        assert rows, f"cell {identity} was never planned"
        return cell_of(rows[0])

    def history(self, identity: str) -> list[records.MetricRow]:
        rows = self._rows("SELECT * FROM metric WHERE cell = ? ORDER BY t, name", identity)
        return [records.MetricRow(**row) for row in rows]

    def last_points(self, metric: str, among: Collection[str] | None = None) -> dict[str, tuple[int, float]]:
        """Return a metric's last point (step and value) by cell, of all or `among` these.

        Of `NAME/kept` the value is that of the model that the cell keeps.
        """
        # SQLite: with a bare max(), the other columns come from the row that holds it.
        name = metric.removesuffix(AT_CHECKPOINT)
        last = "SELECT cell, max(t), value FROM metric WHERE name = ?1 %s GROUP BY cell"
        theirs = "" if among is None else "AND cell IN (SELECT value FROM json_each(?2))"
        query = (last if name == metric else CHECKPOINT_VALUES) % theirs
        rows = self._db.execute(query, (name,) if among is None else (name, json.dumps(list(among))))
        return {cell: (t, records.number_of(value)) for cell, t, value in rows}

    def later_means(self, names: Iterable[str]) -> dict[str, dict[str, float]]:
        """Return means over the later half of complete cells, by cell and metric."""
        query = (
            "SELECT metric.cell, name, avg(value) FROM metric JOIN (SELECT identity AS cell, (SELECT max(t) FROM"
            " metric WHERE cell = identity) AS last FROM cell WHERE status = 'complete' AND NOT retired)"
            " AS ended ON ended.cell = metric.cell AND 2 * t > last"
            " WHERE name IN (SELECT value FROM json_each(?)) GROUP BY 1, 2"
        )
        found: dict[str, dict[str, float]] = {}
        for cell, name, value in self._db.execute(query, (json.dumps(list(names)),)):
            found.setdefault(cell, {})[name] = records.number_of(value)
        return found

    def final_values(self, metric: str, among: Collection[str] | None = None) -> dict[str, float]:
        """Return each cell's final value of a metric: its last point, or the cell's cost."""
        if metric not in records.COSTS:
            return {cell: value for cell, (_, value) in self.last_points(metric, among).items()}
        query = (
            f"SELECT identity, {COST_COLUMNS[metric]} FROM cell WHERE status IN ('complete', 'stopped_early')"
        )
        return {cell: records.number_of(value) for cell, value in self._db.execute(query)}

    def attempts(self, among: Collection[str] | None = None) -> list[records.AttemptRecord]:
        """Return attempts by their start, at all cells or at those `among` these."""
        order = "ORDER BY started, cell, number"
        rows = self._rows_of("SELECT * FROM attempt", "cell", among, order)
        return [records.AttemptRecord(**row) for row in rows]

    def rungs(self, among: Collection[str] | None = None) -> list[records.RungRow]:
        rows = self._rows_of("SELECT * FROM rung", "cell", among, "ORDER BY t, cell")
        return [records.RungRow(**row) for row in rows]

    def evaluations(self, among: Collection[str] | None = None) -> list[records.EvaluationRow]:
        """Return the scores of all subjects, or of those `among` these."""
        order = "ORDER BY subject, task, split, aggregation, preset"
        rows = self._rows_of("SELECT * FROM evaluation", "subject", among, order)
        return [records.EvaluationRow(**row) for row in rows]

    def importance(self) -> list[records.ImportanceRow]:
        """Return importance by evaluator and axis; an interval not computed is NaN."""
        rows = self._rows("SELECT * FROM importance ORDER BY evaluator, axis")
        return [records.ImportanceRow(**row) for row in rows]

    def provenance(self) -> list[dict[str, Any]]:
        """Return the provenance of every run, oldest first, with its time under `at`."""
        rows = self._db.execute("SELECT at, content FROM provenance ORDER BY run")
        return [
            {"at": at, **records.RunProvenance.model_validate_json(content).model_dump(exclude_unset=True)}
            for at, content in rows
        ]

    def last_events(self, number: int) -> list[dict[str, str]]:
        """Return the newest events, oldest first: at, kind, cell, text."""
        query = "SELECT at, kind, cell, text FROM event ORDER BY id DESC LIMIT ?"
        return list(self._rows(query, number))[::-1]

    def select(self, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Return the rows of a query of its caller."""
        return self._db.execute(query, values).fetchall()

    def _rows_of(
        self, query: str, key: str, among: Collection[str] | None, order: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield all rows of a query, or those whose key is `among` these."""
        if among is None:
            return self._rows(f"{query} {order}")
        known = json.dumps(list(among))  # as one value: SQLite limits how many a statement may have
        return self._rows(f"{query} WHERE {key} IN (SELECT value FROM json_each(?)) {order}", known)

    def _rows(self, query: str, *values: Any) -> Iterator[dict[str, Any]]:
        cursor = self._db.execute(query, values)
        names = [column[0] for column in cursor.description]
        return (dict(zip(names, row, strict=True)) for row in cursor)


JSON_COLUMNS = ("config", "proposal", "provenance")


def cell_of(row: dict[str, Any], read: Callable[[str], Any] = json.loads) -> records.CellRecord:
    """Return the cell in a row of the table."""
    return records.CellRecord(**{**row, **{name: read(row[name]) for name in JSON_COLUMNS}})


def _with_settings(names: Sequence[str]) -> str:
    """The table of cells, whose configurations have these settings alone."""
    columns = ", ".join(name for name in records.CellRecord.model_fields if name != "config")
    settings = ", ".join(f"'{name}', json_extract(config, '$.{name}')" for name in names)
    return f"(SELECT {columns}, json_object({settings}) AS config FROM cell)"


def row_of(cell: records.CellRecord) -> dict[str, Any]:
    """Return the table row of a cell."""
    row = cell.model_dump()
    return {**row, "retired": int(cell.retired), **{name: canonical_json(row[name]) for name in JSON_COLUMNS}}


def now() -> str:
    """Return the time in UTC, ISO 8601, to the second.

    It follows the clock as it was when this process began: an attempt keeps its length if the clock is set meanwhile.
    """
    return datetime.fromtimestamp(BEGUN + time.clock_gettime(STEADY), UTC).isoformat(timespec="seconds")
