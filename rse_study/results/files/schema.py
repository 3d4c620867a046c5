"""Tables of the ledger, their SCHEMA_VERSION, and the layout of a study's files."""

import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.files.failures import damaged

SCHEMA_VERSION = 4

# JSON columns are text. A NULL value is a NaN (SQLite has none); infinities are stored as they are.
TABLES = """
CREATE TABLE revision (
    number INTEGER PRIMARY KEY, at TEXT NOT NULL, change TEXT NOT NULL, study TEXT NOT NULL
) STRICT;
CREATE TABLE cell (
    identity TEXT PRIMARY KEY, trial INTEGER NOT NULL, seed INTEGER NOT NULL,
    stage TEXT NOT NULL CHECK (stage IN ('grid', 'search', 'confirm', 'path')), label TEXT NOT NULL,
    config TEXT NOT NULL, proposal TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('planned', 'running', 'complete', 'failed', 'stopped_early')),
    reason TEXT NOT NULL, started TEXT NOT NULL, ended TEXT NOT NULL, duration_s REAL NOT NULL,
    revision INTEGER NOT NULL, retired INTEGER NOT NULL, provenance TEXT NOT NULL
) STRICT;
-- Where code or corpus have changed, the same trial and seed are another cell; the one before it is retired.
CREATE UNIQUE INDEX one_cell_each ON cell (trial, seed) WHERE NOT retired;
CREATE TABLE attempt (
    cell TEXT NOT NULL REFERENCES cell (identity), number INTEGER NOT NULL,
    executor TEXT NOT NULL, workers INTEGER NOT NULL, threads INTEGER NOT NULL,
    started TEXT NOT NULL, ended TEXT NOT NULL,
    outcome TEXT NOT NULL CHECK (outcome IN ('running', 'complete', 'failed', 'stopped_early', 'lost')),
    reason TEXT NOT NULL,
    PRIMARY KEY (cell, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE metric (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, name TEXT NOT NULL, value REAL,
    PRIMARY KEY (cell, t, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE rung (
    cell TEXT NOT NULL REFERENCES cell (identity), t INTEGER NOT NULL, value REAL,
    verdict TEXT NOT NULL CHECK (verdict IN ('continue', 'stop')),
    PRIMARY KEY (cell, t)
) STRICT, WITHOUT ROWID;
CREATE TABLE evaluation (
    subject TEXT NOT NULL, task TEXT NOT NULL, split TEXT NOT NULL, aggregation TEXT NOT NULL,
    value REAL, num_examples INTEGER NOT NULL, degenerate INTEGER NOT NULL,
    fingerprint TEXT NOT NULL, preset TEXT NOT NULL, num_skipped INTEGER NOT NULL, seed INTEGER NOT NULL,
    PRIMARY KEY (subject, task, split, aggregation, preset)
) STRICT, WITHOUT ROWID;
CREATE TABLE importance (
    axis TEXT NOT NULL, evaluator TEXT NOT NULL, value REAL, low REAL, high REAL, num_trials INTEGER NOT NULL,
    PRIMARY KEY (axis, evaluator)
) STRICT, WITHOUT ROWID;
CREATE TABLE provenance (
    run INTEGER PRIMARY KEY, at TEXT NOT NULL, content TEXT NOT NULL
) STRICT;
CREATE TABLE event (
    id INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL, cell TEXT NOT NULL, text TEXT NOT NULL
) STRICT;
"""


def is_archive(path: str) -> bool:
    """Whether a user's argument names a study's archive, by its suffix."""
    return path.endswith((".tar.xz", ".tar.gz", ".tgz", ".tar"))


def ledger_path(study_dir: Path) -> Path:
    """Return the path of a study's ledger."""
    return study_dir / "ledger.sqlite"


MODEL_FOLDER = "model"
"""Folder in a cell's folder that holds its model in Hugging Face's layout."""
CHECKPOINT_FOLDER = "checkpoint"
"""Folder in a cell's folder from which a run resumes."""


def storage_file(study_dir: Path) -> Path:
    """Return the file that records the location of a study's storage."""
    return study_dir / "storage.json"


def cells_folder(study_dir: Path) -> Path:
    """Return the folder that has one folder per cell."""
    return study_dir / "cells"


def cell_folder(study_dir: Path, identity: str) -> Path:
    """Return the folder of a cell's files: checkpoint, model, result, scores."""
    return cells_folder(study_dir) / identity[:16]


def baselines_folder(study_dir: Path) -> Path:
    """Return the folder for scores of baselines."""
    return study_dir / "baselines"


def check_version(connection: sqlite3.Connection, path: Path) -> int:
    """Return the ledger's schema version; 0 if it is new and empty."""
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (num_tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
        is_whole = _columns_of_today() <= _columns(connection)
    except sqlite3.OperationalError:
        raise  # perhaps a ledger that cannot be opened: the caller words the error
    except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
        raise damaged(f"no ledger: {error}", path) from None
    if not 0 <= version <= SCHEMA_VERSION or (version == 0 and num_tables):
        rule = f"this version of rse-study reads schema 1 to {SCHEMA_VERSION}"
        raise InputError(
            f"schema {version}", where=str(path), rule=rule, remedy="Use the version that wrote it"
        )
    if version == SCHEMA_VERSION and not is_whole:
        raise damaged("damaged: a table or a column is missing", path)
    return int(version)


def _columns(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    query = "SELECT m.name, c.name FROM sqlite_master AS m JOIN pragma_table_info(m.name) AS c"
    return set(connection.execute(f"{query} WHERE m.type = 'table'"))


@cache
def _columns_of_today() -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:")) as blank:
        blank.executescript(TABLES)
        return _columns(blank)
