"""Failures of a ledger's file and disk, in words with a remedy."""

import errno
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
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
