"""Changes of ledger rows, inside the caller's transaction."""

import sqlite3
from collections.abc import Iterable, Mapping

from rse_study.results.files.queries import now, row_of
from rse_study.results.files.result_file import Result
from rse_study.results.records import CellRecord, EvaluationRow, RungRow
from rse_study.results.study_record import Revision

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


def add_revision(db: sqlite3.Connection, revision: Revision) -> None:
    """Add a revision of the study."""
    values = revision.number, revision.at, revision.change, revision.study.model_dump_json()
    db.execute("INSERT INTO revision VALUES (?, ?, ?, ?)", values)


def add_cell(db: sqlite3.Connection, cell: CellRecord) -> None:
    """Add a cell, or un-retire it; sqlite3.IntegrityError if trial and seed are taken."""
    db.execute(f"{INSERT_CELL} ON CONFLICT (identity) DO UPDATE SET retired = 0", row_of(cell))


def add_metrics(db: sqlite3.Connection, identity: str, t: int, metrics: Mapping[str, float]) -> None:
    """Add a cell's metrics at a step, replacing those of the same names."""
    rows = [(identity, t, name, value) for name, value in metrics.items()]
    db.executemany("INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?)", rows)


def complete_history(db: sqlite3.Connection, result: Result) -> None:
    """Make a cell's history that of its result; most points are there already."""
    points = {(point.t, name): value for point in result.history for name, value in point.metrics.items()}
    query = "SELECT t, name, value FROM metric WHERE cell = ?"
    known = {(t, name): value for t, name, value in db.execute(query, (result.identity,))}
    others = [(result.identity, *key) for key in known.keys() - points.keys()]
    db.executemany("DELETE FROM metric WHERE cell = ? AND t = ? AND name = ?", others)
    new = [(result.identity, *key, value) for key, value in points.items() if known.get(key) != value]
    db.executemany("INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?)", new)


def add_rung(db: sqlite3.Connection, row: RungRow) -> None:
    """Add a verdict; an earlier one at the same step stands."""
    db.execute("INSERT OR IGNORE INTO rung VALUES (:cell, :t, :value, :verdict)", row.model_dump())


def add_evaluations(db: sqlite3.Connection, rows: Iterable[EvaluationRow]) -> None:
    """Add scores, replacing those of the same subject and metric, or on other data."""
    values = [row.model_dump() for row in rows]
    db.executemany(FORGET_OTHERS, values)
    db.executemany(INSERT_SCORE, values)


def add_event(db: sqlite3.Connection, kind: str, text: str, cell: str = "") -> None:
    """Add an event with the current time."""
    db.execute("INSERT INTO event (at, kind, cell, text) VALUES (?, ?, ?, ?)", (now(), kind, cell, text))


def begin_attempt(db: sqlite3.Connection, identity: str, executor: str, workers: int, threads: int) -> int:
    """Open the next attempt at a cell and return its number, counted from 1."""
    started = now()
    changed = db.execute(
        "UPDATE cell SET status = 'running', reason = '', started = ?, ended = ''"
        " WHERE identity = ? AND status IN ('planned', 'failed', 'stopped_early')",
        (started, identity),
    )
    assert changed.rowcount == 1, f"cell {identity} is unknown, complete or running already"
    (number,) = db.execute(
        "INSERT INTO attempt SELECT ?1, 1 + count(*), ?2, ?3, ?4, ?5, '', 'running', ''"
        " FROM attempt WHERE cell = ?1 RETURNING number",
        (identity, executor, workers, threads, started),
    ).fetchone()
    return int(number)


def is_running(db: sqlite3.Connection, identity: str) -> bool:
    """Whether the cell, which must be known, has an attempt under way."""
    row = db.execute("SELECT status FROM cell WHERE identity = ?", (identity,)).fetchone()
    assert row is not None, f"cell {identity} was never planned"
    return bool(row[0] == "running")


def end_attempt(db: sqlite3.Connection, identity: str, status: str, reason: str) -> None:
    """End a cell and its attempt under way with this status."""
    ended = now()
    changed = db.execute(
        "UPDATE cell SET status = ?, reason = ?, ended = ? WHERE identity = ?",
        (status, reason, ended, identity),
    )
    assert changed.rowcount == 1, f"cell {identity} was never planned"
    _close(db, identity, status, reason, ended)


def lose_attempt(db: sqlite3.Connection, identity: str, reason: str) -> None:
    """End the attempt under way as lost, if there is one: its cell is planned again."""
    if is_running(db, identity):
        _lose(db, identity, reason)


def lose_all_attempts(db: sqlite3.Connection, reason: str) -> None:
    """End every attempt under way as lost; their cells are planned again."""
    running = db.execute("SELECT identity FROM cell WHERE status = 'running'").fetchall()
    for (identity,) in running:
        _lose(db, identity, reason)


def end_open_attempts(db: sqlite3.Connection, ended: str, since: str = "") -> None:
    """End attempts begun `since`; without a time, at the newest one of any attempt."""
    db.execute(
        "UPDATE attempt SET ended = max(started, min(?2, iif(?1 > '', ?1,"
        " (SELECT max(max(started, ended)) FROM attempt)))) WHERE outcome = 'running' AND ended = '' AND started >= ?3",
        (ended, now(), since),
    )


def _lose(db: sqlite3.Connection, identity: str, reason: str) -> None:
    db.execute("UPDATE cell SET status = 'planned', started = '' WHERE identity = ?", (identity,))
    _close(db, identity, "lost", reason, now())


def _close(db: sqlite3.Connection, identity: str, outcome: str, reason: str, ended: str) -> None:
    db.execute(
        "UPDATE attempt SET outcome = ?, reason = ?, ended = iif(ended = '', ?, ended)"
        " WHERE cell = ? AND outcome = 'running'",
        (outcome, reason, ended, identity),
    )
