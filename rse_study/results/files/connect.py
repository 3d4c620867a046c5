"""Open a ledger file: for writing, or for reading wherever it lies."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TextIO

from rse_study.errors import InputError
from rse_study.results.files.atomic import make_folder
from rse_study.results.files.failures import NO_ROOM, REBUILD, failure_of, no_room
from rse_study.results.files.lock import FILE_NAME as LOCK_NAME
from rse_study.results.files.lock import take_lock
from rse_study.results.files.migration import keep_copy, migrate
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import SCHEMA_VERSION, TABLES, check_version, ledger_path
from rse_study.results.files.study_file import FILE_NAME as STUDY_FILE
from rse_study.results.files.study_file import read_revisions


def lock_study(study_dir: Path) -> TextIO:
    """Take the lock of a study's only writer, making its folder if needed."""
    try:
        make_folder(study_dir)
        return take_lock(study_dir / LOCK_NAME)
    except OSError as error:
        if error.errno in NO_ROOM:
            raise no_room(study_dir) from None
        said, remedy = str(error.strerror), "Choose another folder, or make this one writable"
        if error.filename is None:  # of flock, which knows no name
            said = f"its file system has no locks ({said})"
            remedy = "Name a folder on another one: --store DIR"
        raise InputError(f"no place for a ledger: {said}", where=str(study_dir), remedy=remedy) from None


def open_to_write(path: Path) -> tuple[sqlite3.Connection, int]:
    """Return a connection and the schema version that the file had, 0 if new.

    An older ledger is kept beside it as ledger.v1.sqlite and migrated. The caller holds the lock.
    """
    # One writer, not one thread: the driver's callbacks may come from another thread, one at a time.
    connection = sqlite3.connect(path, check_same_thread=False)
    try:
        found = check_version(connection, path)
        connection.execute("PRAGMA journal_mode = WAL")
        # Under WAL this loses no transaction when a process dies; a power cut may take the last ones, and
        # result.json, which is synced, gives them back.
        connection.execute("PRAGMA synchronous = NORMAL")
        if found == 0:
            connection.executescript(f"BEGIN;{TABLES}PRAGMA user_version = {SCHEMA_VERSION};COMMIT;")
        elif found < SCHEMA_VERSION:
            keep_copy(connection, path, found)
            migrate(connection, found)
        connection.execute("PRAGMA foreign_keys = ON")
        # SQLite silently opens a read-only file, and even begins a transaction on it.
        connection.execute("BEGIN IMMEDIATE")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.rollback()
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
            raise failure_of(error, path) or error from None
        remedy = "Make the folder and its ledger writable, or copy them to where you may write"
        raise InputError(f"cannot be written: {error}", where=str(path), remedy=remedy) from None
    except sqlite3.DatabaseError as error:
        connection.close()
        damage = InputError(f"damaged: {error}", where=str(path), remedy=REBUILD)
        raise failure_of(error, path) or damage from None
    except BaseException:
        connection.close()
        raise
    return connection, found


def remove_ledger(path: Path) -> None:
    """Remove a closed ledger and the files SQLite may have left beside it."""
    for part in parts_of(path):
        part.unlink(missing_ok=True)


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a ledger that is open, or whose writer was killed."""
    return tuple(path.with_name(f"{path.name}{suffix}") for suffix in ("", "-wal", "-shm"))


def open_study(study_dir: Path) -> sqlite3.Connection:
    """Open a study's ledger read-only; InputError where there is none."""
    path = ledger_path(study_dir)
    if not path.is_file():
        remedy = "Check the study's name, or run it first"
        raise InputError("no ledger", where=str(study_dir), remedy=remedy)
    connection = open_to_read(path)
    try:
        require_own(connection, study_dir)
    except BaseException:
        connection.close()
        raise
    return connection


def has_ledger(study_dir: Path) -> bool:
    """Whether there is a ledger that is not empty; InputError if it cannot be read."""
    path = ledger_path(study_dir)
    if not path.is_file():
        return False
    with closing(_connect_to_read(path)) as connection:
        return check_version(connection, path) > 0


def is_lost(study_dir: Path) -> bool:
    """Whether a ledger is missing or empty, and can be rebuilt."""
    return (study_dir / STUDY_FILE).exists() and not has_ledger(study_dir)


def require_own(connection: sqlite3.Connection, study_dir: Path) -> None:
    """Raise InputError where a ledger is of another study than the files beside it."""
    if not (study_dir / STUDY_FILE).exists():
        return
    found = LedgerQueries(connection).study()
    try:
        own = read_revisions(study_dir)[-1].study.name
    except InputError:
        return  # damaged: a rebuild would say so, and the next run writes it anew
    if found is not None and found.name != own:
        what = f"this is the ledger of the study {found.name!r}, and the files beside it are of {own!r}"
        where, rule = str(ledger_path(study_dir)), "a ledger lies in its own study's folder"
        remedy = "Put back the one that was here, or make it anew: rse-study doctor --rebuild STUDY"
        raise InputError(what, where=where, rule=rule, remedy=remedy)


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a ledger read-only, migrated in memory if old, also while it is written."""
    connection = _connect_to_read(path)
    try:
        version = check_version(connection, path)
        if version == 0:
            remedy = "`run` makes it anew" if is_lost(path.parent) else "Run the study first"
            raise InputError("the ledger is empty", where=str(path.parent), remedy=remedy)
        if version == SCHEMA_VERSION:
            return connection
        copy = sqlite3.connect(":memory:")
        connection.backup(copy)
        migrate(copy, version)
    except sqlite3.DatabaseError as error:
        connection.close()
        raise InputError(f"damaged: {error}", where=str(path), remedy=REBUILD) from None
    except BaseException:
        connection.close()
        raise
    connection.close()
    return copy


def _connect_to_read(path: Path) -> sqlite3.Connection:
    uri = path.resolve().as_uri()
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True)
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        # Even to read, WAL needs a shared index beside the ledger, which a read-only medium cannot hold.
        connection.close()
        if os.access(path.parent, os.W_OK, effective_ids=True):
            remedy = "Check its permissions, and whether its disk has room: even to read, SQLite needs some"
            raise InputError(f"cannot be read: {error}", where=str(path), remedy=remedy) from None
        return _connect_immutable(path)
    except (sqlite3.DatabaseError, UnicodeDecodeError):
        pass  # no ledger: check_version says so
    return connection


def _connect_immutable(path: Path) -> sqlite3.Connection:
    """Open a ledger on a read-only medium, unless its last writer left a -wal file behind."""
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size:
        rule = f"{log.name} holds changes, which a folder that cannot be written keeps SQLite from reading"
        remedy = f"Copy {path.name} and {log.name} into a folder of yours and read them there"
        raise InputError("cannot be read", where=str(path), rule=rule, remedy=remedy)
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)
