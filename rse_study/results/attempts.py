"""A cell's status and its attempts: how one begins and ends. Inside the caller's transaction."""

import sqlite3

from rse_study.results.queries import now


def begin(db: sqlite3.Connection, identity: str, executor: str, workers: int, threads: int) -> int:
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


def end(db: sqlite3.Connection, identity: str, status: str, reason: str) -> None:
    """The cell ended with this status, and with it the attempt under way, if there is one."""
    ended = now()
    changed = db.execute(
        "UPDATE cell SET status = ?, reason = ?, ended = ? WHERE identity = ?",
        (status, reason, ended, identity),
    )
    assert changed.rowcount == 1, f"cell {identity} was never planned"
    _close(db, identity, status, reason, ended)


def lose(db: sqlite3.Connection, identity: str, reason: str) -> None:
    """The attempt under way at this cell, if there is one, ended without a result; the cell is planned again."""
    if is_running(db, identity):
        _lose(db, identity, reason)


def lose_all(db: sqlite3.Connection, reason: str) -> None:
    """Every attempt under way ended without a result; their cells are planned again."""
    running = db.execute("SELECT identity FROM cell WHERE status = 'running'").fetchall()
    for (identity,) in running:
        _lose(db, identity, reason)


def _lose(db: sqlite3.Connection, identity: str, reason: str) -> None:
    db.execute("UPDATE cell SET status = 'planned', started = '' WHERE identity = ?", (identity,))
    _close(db, identity, "lost", reason, now())


def _close(db: sqlite3.Connection, identity: str, outcome: str, reason: str, ended: str) -> None:
    db.execute(
        "UPDATE attempt SET outcome = ?, reason = ?, ended = ? WHERE cell = ? AND outcome = 'running'",
        (outcome, reason, ended, identity),
    )
