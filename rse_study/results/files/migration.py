"""Migration of ledgers of earlier versions: their rows, in today's tables."""

import re
import sqlite3
from typing import Any

from rse_study.results.files.schema import SCHEMA_VERSION, TABLES

NEW_COLUMNS: dict[str, dict[str, Any]] = {
    "cell": {"stage": "search", "label": "", "revision": 1, "retired": 0, "provenance": "{}"},
    "evaluation": {"preset": "", "num_skipped": 0, "seed": 0},
    "importance": {"low": None, "high": None},
}
"""what a row of an earlier version lacks: v1 and v2 knew searches and similarity only"""
OF_RUN = "coalesce((SELECT json_extract(content, '$.%s') FROM provenance WHERE at <= started ORDER BY run DESC), 1)"
OF_FIRST_VERSION = {
    "revision": """
        SELECT 1 AS number, coalesce((SELECT min(at) FROM provenance), '') AS at, 'created' AS change,
            json_set(content, '$.kind', 'search', '$.num_cells', json_extract(content, '$.num_trials')) AS study
        FROM study""",
    "attempt": f"""
        SELECT identity AS cell, 1 AS number, 'train' AS executor, {OF_RUN % "workers"} AS workers,
            {OF_RUN % "threads"} AS threads, started, ended, status AS outcome, reason
        FROM cell WHERE started != '' AND status != 'planned'""",
}
"""rows of tables that v1 did not have; Ray Train ran every cell"""


def migrated(old: sqlite3.Connection, version: int) -> sqlite3.Connection:
    """Return a ledger in memory with the rows of one of an earlier version."""
    new = sqlite3.connect(":memory:")
    new.executescript(f"{TABLES}PRAGMA user_version = {SCHEMA_VERSION};")
    queries = {name: f"SELECT * FROM {name}" for (name,) in old.execute("SELECT name FROM sqlite_master")}
    queries |= OF_FIRST_VERSION if version == 1 else {}
    with new:
        for table in re.findall(r"CREATE TABLE (\w+)", TABLES):
            if table in queries:
                _copy(old.execute(queries[table]), new, table)
    return new


def _copy(rows: sqlite3.Cursor, new: sqlite3.Connection, table: str) -> None:
    names = [column[0] for column in rows.description]
    for values in rows:
        row = NEW_COLUMNS.get(table, {}) | dict(zip(names, values, strict=True))
        places = ", ".join(f":{name}" for name in row)
        new.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)
