"""Access to studies' files at one location, with retries."""

import errno
import os
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from rse_study.errors import GOES_ON, InputError, Unavailable, first_line
from rse_study.storage.objects import Objects, open_objects

PATIENCE = "RSE_STUDY_STORAGE_PATIENCE"
"""Environment variable: seconds to wait for an unresponsive storage, 300 by default."""
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 0.5, 10.0
NOTICE_SECONDS = 5.0
NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
"""A full disk, of the storage or of this machine, which waiting does not help."""
Answer = TypeVar("Answer")


def study_key(name: str) -> str:
    """Return the prefix of everything that belongs to one study."""
    return f"studies/{name}"


def ledger_key(name: str) -> str:
    """Return the key of the copy of a study's ledger."""
    return f"{study_key(name)}/ledger.sqlite"


class Storage:
    """Reads and writes objects at a location, retrying until it responds.

    Pickling keeps location and patience only: each process opens its own connection. Methods raise Unavailable when
    the patience (seconds; None: from the environment) is used up.
    """

    def __init__(self, location: str, patience_s: float | None = None) -> None:
        self.location = location
        self.patience_s = float(os.environ.get(PATIENCE) or 300) if patience_s is None else patience_s
        self._opened: Objects | None = None
        self._tell: Callable[[str], None] | None = None
        self._is_silent = False

    def report_silence_to(self, tell: Callable[[str], None]) -> None:
        """Call `tell` when this process starts and stops waiting for the storage."""
        self._tell = tell

    def require(self, *, is_new: bool = True) -> None:
        """Test writing, reading and deleting; a storage used before must not be missing."""
        probe = f"probe-{uuid4().hex[:12]}"  # several drivers may do this at once
        try:
            if is_new:
                self._objects.prepare()
            self._objects.write(probe, b"rse-study")
            self._objects.read(probe)
            self._objects.delete(probe)
        except OSError as error:
            remedy = "Check name, endpoint, region and the credentials in the environment"
            rule = "a study's storage can be read and written from here"
            raise InputError(
                first_line(error), where=f"storage {self.location}", rule=rule, remedy=remedy
            ) from None

    def read(self, key: str) -> bytes:
        return self._waiting(lambda: self._objects.read(key))

    def find(self, key: str) -> bytes | None:
        try:
            return self.read(key)
        except FileNotFoundError:
            return None

    def write(self, key: str, content: bytes) -> None:
        self._waiting(lambda: self._objects.write(key, content))

    def download(self, key: str, path: Path) -> None:
        self._waiting(lambda: self._objects.download(key, path))

    def upload(self, path: Path, key: str) -> None:
        self._waiting(lambda: self._objects.upload(path, key))

    def keys(self, prefix: str) -> list[str]:
        return self._waiting(lambda: self._objects.keys(prefix))

    def delete(self, key: str) -> None:
        self._waiting(lambda: self._objects.delete(key))

    @property
    def _objects(self) -> Objects:
        if self._opened is None:
            self._opened = open_objects(self.location)
        return self._opened

    def _waiting(self, ask: Callable[[], Answer]) -> Answer:
        """Retry until there is a response; every operation may be repeated."""
        begun, wait = time.monotonic(), FIRST_WAIT_SECONDS
        while True:
            try:
                answer = ask()
            except FileNotFoundError:
                raise
            except OSError as error:
                if error.errno in NO_ROOM:
                    what = (
                        f"nothing can be written between storage {self.location} and {socket.gethostname()}"
                    )
                    remedy = f"Make room on whichever disk it is; {GOES_ON}"
                    raise Unavailable(f"{what} ({first_line(error)})", remedy) from None
                self._note_silence(time.monotonic() - begun)
                left = begun + self.patience_s - time.monotonic()
                if left <= 0:
                    what = f"storage {self.location} did not answer for {self.patience_s:g} s"
                    remedy = f"What was committed is kept; {GOES_ON} once it answers"
                    raise Unavailable(f"{what} ({first_line(error)})", remedy) from None
                time.sleep(min(wait, left))
                wait = min(2 * wait, LONGEST_WAIT_SECONDS)
            else:
                self._note_answer()
                return answer

    def _note_silence(self, seconds: float) -> None:
        if self._tell is not None and not self._is_silent and seconds >= NOTICE_SECONDS:
            self._is_silent = True
            self._tell(f"storage {self.location} does not answer: waiting up to {self.patience_s:g} s")

    def _note_answer(self) -> None:
        if self._tell is not None and self._is_silent:
            self._is_silent = False
            self._tell(f"storage {self.location} answers again")

    def __getstate__(self) -> dict[str, Any]:
        connection = {"_opened": None, "_tell": None, "_is_silent": False}
        return {"location": self.location, "patience_s": self.patience_s, **connection}
