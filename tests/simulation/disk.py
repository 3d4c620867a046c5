"""Writes of the simulated processes: each is a moment at which its process may die, hang or wait."""

import re
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

WRITES = {"os.rename": 1, "os.remove": 0, "os.rmdir": 0, "os.mkdir": 0}
"""audited events that change a disk, with the position of the path that is changed"""
real_connect = sqlite3.connect


class Disk:
    """Calls `moment` before each write below a folder; it raises where the writer is dead."""

    def __init__(self, root: Path, moment: Callable[[str], None], committed: Callable[[Any], None]) -> None:
        self._root, self.moment, self.committed = str(root), moment, committed

    def look(self, event: str, arguments: tuple[Any, ...]) -> None:
        """Take in an audited event of Python's."""
        if event == "open":
            if not (isinstance(arguments[2], int) and arguments[2] & 0b11):  # only to read
                return
            path = arguments[0]
        elif event in WRITES:
            path = arguments[WRITES[event]]
        else:
            return
        if str(path).startswith(self._root):
            self.moment(f"{event} {shown(str(path).removeprefix(self._root))}")

    def connect(self, *arguments: Any, **named: Any) -> sqlite3.Connection:
        """sqlite3.connect, with connections whose commits are moments, too."""
        disk = self

        class Connection(sqlite3.Connection):
            def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
                if kind is not None or not self.in_transaction:
                    return super().__exit__(kind, error, trace)
                try:
                    disk.moment("commit")
                except BaseException:
                    self.rollback()
                    raise
                super().__exit__(None, None, None)
                disk.committed(self)
                disk.moment("committed")
                return None

            def executescript(self, script: str) -> Any:
                disk.moment("script")
                return super().executescript(script)

        return real_connect(*arguments, factory=Connection, **named)


def shown(path: str) -> str:
    """Return a path without what differs from run to run: the random names of drafts."""
    return re.sub(r"[0-9a-f]{12,}", lambda found: found[0][:6] if len(found[0]) == 64 else "*", path)


_disks: dict[int, Disk] = {}
_is_hooked = False


def _hook(event: str, arguments: tuple[Any, ...]) -> None:
    if _disks and (event == "open" or event in WRITES):
        disk = _disks.get(threading.get_ident())
        if disk is not None:
            disk.look(event, arguments)


def watch_thread(disk: Disk) -> None:
    """Watch what the calling thread writes; audit hooks of Python cannot be removed, but have nothing to do then."""
    global _is_hooked
    if not _is_hooked:
        sys.addaudithook(_hook)
        _is_hooked = True
    _disks[threading.get_ident()] = disk


def leave_thread() -> None:
    """Watch the calling thread no more."""
    _disks.pop(threading.get_ident(), None)
