"""One writer per study: a lock file that names its holder."""

import fcntl
import json
import os
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from rse_study.errors import InputError


def take_lock(path: Path) -> TextIO:
    """Hold `path` until the returned file is closed or the process dies; InputError names the holder."""
    stream = path.open("a+", encoding="utf-8")
    try:
        # The kernel lets go of it when the holder dies, kill -9 included: no lock is ever stale.
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise _refusal(path) from None
    stream.truncate(0)
    json.dump({"pid": os.getpid(), "host": socket.gethostname(), "since": _now()}, stream)
    stream.flush()
    return stream


def read_holder(path: Path) -> dict[str, Any]:
    """Who took the lock last: pid, host, since. Empty where nobody did or the note is half written."""
    try:
        holder = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return holder if isinstance(holder, dict) else {}


def _refusal(path: Path) -> InputError:
    holder = {"pid": "unknown", "host": "unknown", "since": "unknown", **read_holder(path)}
    what = "held by process {pid} on {host} since {since}".format(**holder)
    rule, remedy = "a study has one writer", "Wait for it, or stop that process"
    return InputError(what, where=str(path), rule=rule, remedy=remedy)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
