"""The driver of a stored study: one at a time, on whatever machine."""

import json
import os
import socket
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import Any

import psutil

from rse_study.errors import InputError, Unavailable
from rse_study.storage.storage import Storage, study_key

BEAT_SECONDS = 10.0
SILENCE_SECONDS = 45.0
"""after which a driver that has not renewed its lease counts as dead"""
LOOK_SECONDS = 1.0


class DriverLease:
    """A note in the storage, renewed by its holder, a study's one writer anywhere."""

    def __init__(self, storage: Storage, name: str) -> None:
        self._storage, self._key = storage, f"{study_key(name)}/driver.json"
        self._holder = uuid.uuid4().hex
        self._beats, self._renewed = 0, 0.0
        self._one_at_a_time = Lock()

    def take(self, message: Callable[[str], None]) -> None:
        """Take the lease, from a dead holder after its silence; refuse if one is alive."""
        before = self._storage.find(self._key)
        if before is not None and not _died_on_this_machine(before):
            told = _describe(before)
            message(f"{told} may still run this study: waiting {SILENCE_SECONDS:g} s for a sign of life")
            self._refuse_living(before, told)
        self._write()

    def renew(self) -> None:
        """Renew the lease when due; raise Unavailable where another driver took over."""
        with self._one_at_a_time:
            if time.monotonic() - self._renewed < BEAT_SECONDS:
                return
            content = self._storage.find(self._key)
            if content is None:  # its own note: only who took the study over, and has ended, took it away
                what = "another driver has had this study in the meantime"
                raise Unavailable(what, "The same command resumes the run")
            if _parsed(content).get("holder") != self._holder:
                raise Unavailable(f"{_describe(content)} has taken this study over")
            self._write()

    def release(self) -> None:
        """Give the lease back, so that the next driver need not wait."""
        content = self._storage.find(self._key)
        if content is not None and _parsed(content).get("holder") == self._holder:
            self._storage.delete(self._key)

    def _refuse_living(self, before: bytes, told: str) -> None:
        until = time.monotonic() + SILENCE_SECONDS
        while time.monotonic() < until:
            time.sleep(LOOK_SECONDS)
            asked = time.monotonic()
            now = self._storage.find(self._key)
            until += time.monotonic() - asked  # while the storage is silent its holder cannot be heard
            if now is None:
                return
            if now != before:
                remedy = "Wait for its end, or end it: rse-study status shows its progress"
                raise InputError(f"{told} runs this study", where=self._storage.location, remedy=remedy)

    def _write(self) -> None:
        self._beats += 1
        note = {
            "holder": self._holder,
            "host": socket.gethostname(),
            "machine": _this_machine(),
            "pid": os.getpid(),
            "beats": self._beats,
        }
        self._storage.write(self._key, json.dumps(note).encode())
        self._renewed = time.monotonic()


def _parsed(note: bytes) -> dict[str, Any]:
    """Parse a note; a damaged one is empty: its holder rewrites it, or is dead."""
    with suppress(ValueError):
        content = json.loads(note)
        return content if isinstance(content, dict) else {}
    return {}


def _describe(note: bytes) -> str:
    content = _parsed(note)
    is_whole = {"pid", "host"} <= set(content)
    return f"the driver {content['pid']} on {content['host']}" if is_whole else "a driver"


def _this_machine() -> list[str]:
    """Identify this machine since its start: pids mean nothing elsewhere."""
    known = [socket.gethostname()]
    with suppress(OSError):  # Linux: its start, and the container
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        known += [boot, os.readlink("/proc/self/ns/pid")]
    return known


def _died_on_this_machine(note: bytes) -> bool:
    """Whether its process ran on this machine and is gone."""
    content = _parsed(note)
    return content.get("machine") == _this_machine() and not psutil.pid_exists(content["pid"])
