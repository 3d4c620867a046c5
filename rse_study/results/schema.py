"""The ledger's tables. SCHEMA_VERSION is SQLite's user_version; it grows with every change of this file."""

import sqlite3
from pathlib import Path

from rse_study.errors import InputError

SCHEMA_VERSION = 1

# JSON columns are text. A NULL value is a NaN (SQLite has none); infinities are stored as they are.
TABLES = """
CREATE TABLE study (
    name TEXT PRIMARY KEY, content TEXT NOT NULL
) STRICT;
CREATE TABLE cell (
    identity TEXT PRIMARY KEY, trial INTEGER NOT NULL, seed INTEGER NOT NULL,
    config TEXT NOT NULL, proposal TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'complete', 'failed', 'stopped_early')),
    reason TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, duration_s REAL NOT NULL,
    UNIQUE (trial, seed)
) STRICT;
CREATE TABLE metric (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (cell, t, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE evaluation (
    subject TEXT NOT NULL, task TEXT NOT NULL, split TEXT NOT NULL, aggregation TEXT NOT NULL,
    value REAL NOT NULL, num_examples INTEGER NOT NULL, degenerate INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    PRIMARY KEY (subject, task, split, aggregation)
) STRICT, WITHOUT ROWID;
CREATE TABLE provenance (
    run INTEGER PRIMARY KEY, at TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, cell TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
"""


def ledger_path(study_dir: Path) -> Path:
    """Where a study's ledger lies."""
    return study_dir / "ledger.sqlite"


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """The ledger's schema version; 0 = new and empty. InputError for foreign files and other versions."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (num_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.DatabaseError as error:
        remedy = "Move it away, or choose another folder"
        raise InputError(f"no ledger: {error}", where=str(path), remedy=remedy) from None
    if version not in (0, SCHEMA_VERSION) or (version == 0 and num_tables):
        rule = f"this version of rse-study reads schema {SCHEMA_VERSION}"
        raise InputError(
            f"schema {version}", where=str(path), rule=rule, remedy="Use the version that wrote it"
        )
    return int(version)
