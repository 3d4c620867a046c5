"""The ledger's tables, the layout of a study's files, and their failures in words."""

import errno
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import cache, wraps
from json import JSONDecodeError
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import GOES_ON, InputError, Unavailable, first_line

Owner = TypeVar("Owner", bound=type)
DAMAGES = (ValidationError, JSONDecodeError, UnicodeDecodeError, RecursionError)
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
BROKEN = (errno.EIO, errno.EROFS, errno.EACCES, errno.EPERM)


class DamagedLedger(InputError):
    """A ledger that cannot be read, which the next run of its study replaces."""


def damaged(what: str, where: object) -> DamagedLedger:
    """Return the refusal of a damaged ledger."""
    remedy = "`run` of its study sets it aside, and goes on from its backup and the results on disk"
    return DamagedLedger(what, where=str(where), remedy=remedy)


def names_failures(cls: Owner) -> Owner:
    """Let the public methods of a class with `_db` raise what `failure_of` says."""
    for name, method in list(vars(cls).items()):
        if isinstance(method, FunctionType) and not name.startswith("_"):
            setattr(cls, name, _named(method))
    return cls


def _named(method: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(method)
    def call(self: Any, *args: Any, **named: Any) -> Any:
        try:
            return method(self, *args, **named)
        except Exception as error:
            cause = error.__cause__  # pandas wraps what SQLite says
            failure = failure_of(cause if isinstance(cause, sqlite3.Error) else error, file_of(self._db))
            if failure is None:
                raise
            raise failure from error

    return call


def failure_of(error: BaseException, path: Path) -> InputError | Unavailable | None:
    """Say what an error means for the ledger at `path`, None if nothing."""
    if isinstance(error, DAMAGES):
        return damaged(f"damaged: {first_line(error)}", path)
    if not isinstance(error, sqlite3.DatabaseError):
        return failure_of_disk(error, path.parent)
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK) & 0xFF
    # SQLITE_ERROR: a table or a column is not as this program makes it.
    if code in (
        sqlite3.SQLITE_ERROR,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
    ) or "decode to UTF-8" in str(error):
        return damaged(f"damaged: {error}", path)
    if code == sqlite3.SQLITE_FULL:
        return no_room(path.parent)
    if code in (sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN):
        return unusable(path, str(error))
    return None


def failure_of_disk(error: BaseException, folder: Path | None = None) -> Unavailable | None:
    """Return the failure if a disk is full, broken or read-only, else None."""
    # Libraries in Rust (safetensors, tokenizers) raise errors of their own, with the number in words.
    said = re.search(r"\(os error (\d+)\)", str(error))
    code = error.errno if isinstance(error, OSError) else int(said[1]) if said else 0
    name = getattr(error, "filename", None)
    where = Path(os.fsdecode(name)).parent if isinstance(name, str | bytes) else folder or Path.cwd()
    if code in NO_ROOM:
        return no_room(where)
    return unusable(where, os.strerror(code)) if code in BROKEN else None


@contextmanager
def naming_failures_of_disk(folder: Path | None = None) -> Iterator[None]:
    """Raise Unavailable instead of errors that a disk is to blame for."""
    try:
        yield
    except Exception as error:
        failure = failure_of_disk(error, folder)
        if failure is None:
            raise
        raise failure from error


def unusable(path: Path, why: str) -> Unavailable:
    """Return the failure of a run whose disk is broken or read-only."""
    remedy = "Look at its disk and its permissions, and give the same command again"
    return Unavailable(f"{path} cannot be used any more: {why}", remedy)


def no_room(folder: Path) -> Unavailable:
    """Return the failure of a run whose disk is full."""
    return Unavailable(f"no room left in {folder}", f"Make room; {GOES_ON}")


def file_of(connection: sqlite3.Connection) -> Path:
    """Return the path of a connection's ledger."""
    try:
        return Path(connection.execute("PRAGMA database_list").fetchone()[2] or "ledger.sqlite")
    except sqlite3.Error:
        return Path("ledger.sqlite")


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
