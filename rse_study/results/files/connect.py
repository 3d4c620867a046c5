"""Ledgers opened: by the one writer that holds the lock, or for reading."""

import errno
import fcntl
import json
import os
import re
import socket
import sqlite3
import time
from contextlib import ExitStack, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rse_study.errors import InputError
from rse_study.results.files import schema
from rse_study.results.files.atomic import make_folder, write_whole
from rse_study.results.files.queries import now

LOCK_NAME = "ledger.lock"
PATIENCE_S = 0.2  # for processes that only check the lock, and hold it for a moment
UNKNOWN = {"pid": "unknown", "host": "unknown", "since": "unknown"}


def take_lock(path: Path) -> TextIO:
    """Hold a lock file until the returned stream is closed or the process dies."""
    stream = path.open("a+", encoding="utf-8")
    patient_until = time.monotonic() + PATIENCE_S
    # The kernel releases it when the holder dies, even by kill -9: no lock is ever stale.
    while not _take(stream, fcntl.LOCK_EX):
        if time.monotonic() >= patient_until:
            stream.close()
            raise _refusal(path)
        time.sleep(0.01)
    stream.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": now()}, stream)
    stream.flush()
    show_life(stream)
    return stream


def show_life(stream: TextIO) -> None:
    """Note in the time of a lock file that its holder lives."""
    moment = datetime.fromisoformat(now()).timestamp()
    try:
        os.utime(stream.fileno(), times=(moment, moment))
    except PermissionError:  # to another user's file only the present can be given
        os.utime(stream.fileno())


def last_sign_of_life(study_dir: Path) -> str:
    """Return when a study's holder last gave a sign of life; empty without one."""
    path = study_dir / LOCK_NAME
    return (
        datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat("T", "seconds") if path.exists() else ""
    )


def holder(study_dir: Path) -> dict[str, Any] | None:
    """Return the live process that holds the study (pid, host, since), or None."""
    path = study_dir / LOCK_NAME
    try:
        with path.open(encoding="utf-8") as stream:
            # Shared, so that two checks do not take each other for a holder. Closing releases it.
            return None if _take(stream, fcntl.LOCK_SH) else {**UNKNOWN, **read_holder(path)}
    except OSError as error:
        if error.filename and error.errno != errno.ENOENT:
            raise
        return None  # no such file, or a file system without locks, where nobody can run a study


def read_holder(path: Path) -> dict[str, Any]:
    """Return pid, host and time of who took the lock last; empty if unreadable."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(path: Path) -> InputError:
    what = "held by process {pid} on {host} since {since}".format(**{**UNKNOWN, **read_holder(path)})
    rule, remedy = "a study has one writer", "Wait for it, or stop that process"
    return InputError(what, where=str(path), rule=rule, remedy=remedy)


def _take(stream: TextIO, kind: int) -> bool:
    try:
        fcntl.flock(stream, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
    new.executescript(f"{schema.TABLES}PRAGMA user_version = {schema.SCHEMA_VERSION};")
    queries = {name: f"SELECT * FROM {name}" for (name,) in old.execute("SELECT name FROM sqlite_master")}
    queries |= OF_FIRST_VERSION if version == 1 else {}
    with new:
        for table in re.findall(r"CREATE TABLE (\w+)", schema.TABLES):
            if table in queries:
                _copy(old.execute(queries[table]), new, table)
    return new


def _copy(rows: sqlite3.Cursor, new: sqlite3.Connection, table: str) -> None:
    names = [column[0] for column in rows.description]
    for values in rows:
        row = NEW_COLUMNS.get(table, {}) | dict(zip(names, values, strict=True))
        places = ", ".join(f":{name}" for name in row)
        new.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({places})", row)


def lock_study(study_dir: Path) -> TextIO:
    """Take the lock of a study's only writer, making its folder if needed."""
    try:
        make_folder(study_dir)
        return take_lock(study_dir / LOCK_NAME)
    except OSError as error:
        if error.errno in schema.NO_ROOM:
            raise schema.no_room(study_dir) from None
        said, remedy = str(error.strerror), "Choose another folder, or make this one writable"
        if error.filename is None:  # of flock, which knows no name
            said = f"its file system has no locks ({said})"
            remedy = "Name a folder on another one: --store DIR"
        raise InputError(f"no place for a ledger: {said}", where=str(study_dir), remedy=remedy) from None


def open_to_write(path: Path) -> sqlite3.Connection:
    """Open a ledger, or make it. The caller holds the lock.

    One of an earlier version is migrated, and stays beside it as ledger.v1.sqlite.
    """
    # One writer, not one thread: the driver's callbacks may come from another thread, one at a time.
    with ExitStack() as stack:
        connection = stack.enter_context(closing(sqlite3.connect(path, check_same_thread=False)))
        try:
            _prepare_to_write(connection, path)
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR):
                raise schema.failure_of(error, path) or error from None
            remedy = "Make the folder and its ledger writable, or copy them to where you may write"
            raise InputError(f"cannot be written: {error}", where=str(path), remedy=remedy) from None
        except sqlite3.DatabaseError as error:
            raise schema.failure_of(error, path) or schema.damaged(f"damaged: {error}", path) from None
        stack.pop_all()
    return connection


def _prepare_to_write(connection: sqlite3.Connection, path: Path) -> None:
    """Bring a ledger to this version's tables, and try to write it."""
    found = schema.check_version(connection, path)
    if 0 < found < schema.SCHEMA_VERSION:
        write_whole(path.with_name(f"{path.stem}.v{found}{path.suffix}"), copy_of(connection))
        with closing(migrated(connection, found)) as new:
            new.backup(connection)
    connection.execute("PRAGMA journal_mode = WAL")
    # Under WAL this loses no transaction when a process dies; a power cut may take the last ones, and
    # result.json, which is synced, gives them back.
    connection.execute("PRAGMA synchronous = NORMAL")
    if found == 0:
        connection.executescript(
            f"BEGIN;{schema.TABLES}PRAGMA user_version = {schema.SCHEMA_VERSION};COMMIT;"
        )
    connection.execute("PRAGMA foreign_keys = ON")
    # SQLite silently opens a read-only file, and even begins a transaction on it.
    connection.execute("BEGIN IMMEDIATE")
    connection.execute(f"PRAGMA user_version = {schema.SCHEMA_VERSION}")
    connection.rollback()


def remove_ledger(path: Path) -> None:
    """Remove a closed ledger and the files SQLite may have left beside it."""
    for part in parts_of(path):
        part.unlink(missing_ok=True)


def parts_of(path: Path) -> tuple[Path, ...]:
    """Return the files of a ledger that is open, or whose writer was killed."""
    return tuple(path.with_name(f"{path.name}{suffix}") for suffix in ("", "-wal", "-shm"))


def open_study(study_dir: Path) -> sqlite3.Connection:
    """Open a study's ledger read-only, also while it is written.

    An old one is migrated in memory. Raises InputError where there is none.
    """
    path = schema.ledger_path(study_dir)
    if not path.is_file():
        remedy = "Check the study's name, or run it first"
        raise InputError("no ledger", where=str(study_dir), remedy=remedy)
    with ExitStack() as stack:
        connection = stack.enter_context(closing(_connect_to_read(path)))
        try:
            version = schema.check_version(connection, path)
            if version == 0:
                raise InputError("the ledger is empty", where=str(study_dir), remedy="Run the study first")
            if version < schema.SCHEMA_VERSION:
                return migrated(connection, version)
        except sqlite3.DatabaseError as error:
            raise schema.damaged(f"damaged: {error}", path) from None
        stack.pop_all()
    return connection


def has_ledger(study_dir: Path) -> bool:
    """Whether there is a ledger that is not empty; InputError if it cannot be read."""
    path = schema.ledger_path(study_dir)
    if not path.is_file():
        return False
    with closing(_connect_to_read(path)) as connection:
        return schema.check_version(connection, path) > 0


def copy_of(ledger: sqlite3.Connection) -> bytes:
    """Return an open ledger as one file, even while it is written.

    Raises DamagedLedger if a page is broken.
    """
    with closing(sqlite3.connect(":memory:")) as memory:
        ledger.backup(memory)
        (said,) = memory.execute("PRAGMA quick_check(1)").fetchone()
        if said != "ok":
            raise schema.damaged(f"damaged: {said}", schema.file_of(ledger))
        return memory.serialize()


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
