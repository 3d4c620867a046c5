"""How records become rows, for the ledger and for a rebuild. Inside the caller's transaction."""

import sqlite3
from collections.abc import Iterable, Mapping

from rse_study.results.queries import now, row_of
from rse_study.results.records import CellRecord, EvaluationRow, Revision, RungRow

FIELDS = CellRecord.model_fields
INSERT_CELL = f"INSERT INTO cell ({', '.join(FIELDS)}) VALUES ({', '.join(f':{name}' for name in FIELDS)})"

SCORE = EvaluationRow.model_fields
INSERT_SCORE = (
    f"INSERT OR REPLACE INTO evaluation ({', '.join(SCORE)})"
    f" VALUES ({', '.join(f':{name}' for name in SCORE)})"
)

# What an evaluation is: its task with its preset, or with its split where it has none (`EvaluationRow.evaluation`).
FORGET_OTHERS = (
    "DELETE FROM evaluation WHERE subject = :subject AND task = :task AND preset = :preset"
    " AND (preset != '' OR split = :split) AND fingerprint != :fingerprint"
)


def add_revision(db: sqlite3.Connection, revision: Revision) -> None:
    """A new edition of the study."""
    values = revision.number, revision.at, revision.change, revision.study.model_dump_json()
    db.execute("INSERT INTO revision VALUES (?, ?, ?, ?)", values)


def add_cell(db: sqlite3.Connection, cell: CellRecord) -> None:
    """A new cell; a known one is no longer retired, and otherwise left alone.

    Raises sqlite3.IntegrityError where another cell that is not retired has its trial and seed.
    """
    db.execute(f"{INSERT_CELL} ON CONFLICT (identity) DO UPDATE SET retired = 0", row_of(cell))


def add_metrics(db: sqlite3.Connection, identity: str, t: int, metrics: Mapping[str, float]) -> None:
    """A cell's numbers at step `t`, in place of those of the same names."""
    rows = [(identity, t, name, value) for name, value in metrics.items()]
    db.executemany("INSERT OR REPLACE INTO metric VALUES (?, ?, ?, ?)", rows)


def add_rung(db: sqlite3.Connection, row: RungRow) -> None:
    """A verdict; an earlier one at the same step stands."""
    db.execute("INSERT OR IGNORE INTO rung VALUES (:cell, :t, :value, :verdict)", row.model_dump())


def add_evaluations(db: sqlite3.Connection, rows: Iterable[EvaluationRow]) -> None:
    """Scores, in place of those of the same subject and metric; and of its others of the evaluation on other data."""
    values = [row.model_dump() for row in rows]
    db.executemany(FORGET_OTHERS, values)
    db.executemany(INSERT_SCORE, values)


def add_event(db: sqlite3.Connection, kind: str, text: str, cell: str = "") -> None:
    """Something that happened, now."""
    db.execute("INSERT INTO event (at, kind, cell, text) VALUES (?, ?, ?, ?)", (now(), kind, cell, text))
