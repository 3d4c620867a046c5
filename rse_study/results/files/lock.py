"""One writer per study: a lock file that names its holder."""

import errno
import fcntl
import json
import os
import socket
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rse_study.errors import InputError
from rse_study.results.files.queries import now

FILE_NAME = "ledger.lock"
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
    path = study_dir / FILE_NAME
    return (
        datetime.fromtimestamp(path.stat().st_mtime, UTC).isoformat("T", "seconds") if path.exists() else ""
    )


def holder(study_dir: Path) -> dict[str, Any] | None:
    """Return the live process that holds the study (pid, host, since), or None."""
    path = study_dir / FILE_NAME
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
