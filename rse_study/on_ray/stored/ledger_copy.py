"""A study whose files lie in a storage: its driver, and the copy of its ledger."""

import json
import os
import socket
import sqlite3
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, ParamSpec

import psutil

from rse_study.errors import InputError, Unavailable, first_line
from rse_study.on_ray.queue import StudyCallback
from rse_study.on_ray.stored import StudyFiles
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.backup import attach_backup, is_ledger, rebuild, write_backup
from rse_study.results.files.connect import copy_of, holder
from rse_study.results.files.result_file import ITEMS_FILE
from rse_study.results.files.schema import baselines_folder, ledger_path, storage_file
from rse_study.storage.storage import Storage, ledger_key, study_key

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


P = ParamSpec("P")


def bring_ledger(storage: Storage, study_dir: Path) -> bool:
    """Replace the ledger by the storage's copy where that one is ahead; say whether.

    The replaced ledger is kept beside it. Raises InputError where the copy is of another study of this name.
    """
    content = storage.find(ledger_key(study_dir.name))
    if content is None:
        return False
    if not is_ledger(content):
        remedy = "Delete it there: the run goes on from the ledger here, and from the results in the storage"
        where = f"{storage.location}/{ledger_key(study_dir.name)}"
        raise InputError("the copy of the ledger is damaged", where=where, remedy=remedy)
    with closing(sqlite3.connect(":memory:")) as copy:
        attach_backup(copy, content)
        birth, progress = _birth(copy), _progress(copy)
    if ledger_path(study_dir).exists():
        with closing(_opened(ledger_path(study_dir))) as here:
            if _birth(here) not in ("", birth):
                what, rule = f"another study {study_dir.name!r}", "a storage holds one study of a name"
                remedy = "Give this study another name or another storage"
                raise InputError(what, where=storage.location, rule=rule, remedy=remedy)
            if _progress(here) >= progress:
                return False
    write_backup(study_dir, content)  # first: a driver killed here finds its ledger unlike its backup
    rebuild(study_dir)
    return True


class CopyingCallback:
    """Copies the ledger after every change, beside the driver's work; hands events on."""

    def __init__(
        self, callback: StudyCallback, storage: Storage, study_dir: Path, lease: DriverLease
    ) -> None:
        self._storage, self._study_dir, self._lease = storage, study_dir, lease
        self._changed, self._over = Event(), Event()
        self._failure: Unavailable | None = None
        self._on_failure: Callable[[Unavailable], None] | None = None
        # Two: a large copy may take longer than a driver may be silent.
        self._threads = [
            Thread(target=self._persist, args=(work,), name="ledger copy", daemon=True)
            for work in (self._keep_copying, self._keep_lease)
        ]
        self.progressed = callback.progressed  # nothing to copy: its result will hold the point
        self.cells_found = self._copied_after(callback.cells_found)
        self.started = self._copied_after(callback.started)
        self.ended = self._copied_after(callback.ended)
        self.lost = self._copied_after(callback.lost)
        self.node_lost = self._copied_after(callback.node_lost)
        self.message = self._copied_after(callback.message)
        self.advanced = self._copied_after(callback.advanced)

    def _copied_after(self, event: Callable[P, None]) -> Callable[P, None]:
        def happen(*arguments: P.args, **named: P.kwargs) -> None:
            self._changed.set()
            event(*arguments, **named)

        return happen

    def report_failure_to(self, hear: Callable[[Unavailable], None]) -> None:
        """Tell `hear` once the storage is gone for good, from another thread if later."""
        self._on_failure = hear
        if self._failure is not None:
            hear(self._failure)

    @contextmanager
    def copying(self) -> Iterator[None]:
        """Copy until the end and once more then; raise Unavailable if it failed."""
        for thread in self._threads:
            thread.start()
        try:
            yield
        finally:
            self._changed.set()
            self._over.set()
            for thread in self._threads:
                thread.join()
        if self._failure is not None:
            raise self._failure

    def _keep_lease(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            self._lease.renew()

    def _keep_copying(self) -> None:
        while not self._over.is_set():
            if self._changed.wait(BEAT_SECONDS):
                self._copy()
        self._copy()
        items = baselines_folder(self._study_dir) / ITEMS_FILE  # those of cells their workers put there
        if items.exists():
            key = f"{study_key(self._study_dir.name)}/{items.relative_to(self._study_dir)}"
            self._storage.write(key, items.read_bytes())

    def _persist(self, work: Callable[[], None]) -> None:
        try:
            work()
        except Unavailable as gone:
            self._fail(gone)
        except Exception as error:  # whatever it is: a run without copies and lease must not go on
            self._fail(Unavailable(f"the ledger cannot be copied to its storage ({first_line(error)})"))

    def _fail(self, failure: Unavailable) -> None:
        self._failure = failure
        if self._on_failure is not None:
            self._on_failure(failure)

    def _copy(self) -> None:
        self._changed.clear()
        # Before it: who has lost the study must not write over what its new driver left.
        self._lease.renew()
        if ledger_path(self._study_dir).exists():
            with closing(_opened(ledger_path(self._study_dir))) as ledger:
                self._storage.write(ledger_key(self._study_dir.name), copy_of(ledger))


def _birth(ledger: sqlite3.Connection) -> str:
    """Return when the first revision was frozen (tells studies apart), or empty."""
    with suppress(sqlite3.DatabaseError):
        row = ledger.execute("SELECT at FROM revision ORDER BY number LIMIT 1").fetchone()
        return str(row[0]) if row else ""
    return ""


def _progress(ledger: sqlite3.Connection) -> tuple[int, int]:
    """Return the number of runs begun and attempts ended; a damaged ledger is last."""
    with suppress(sqlite3.DatabaseError):
        (runs,) = ledger.execute("SELECT count(*) FROM provenance").fetchone()
        (ended,) = ledger.execute("SELECT count(*) FROM attempt WHERE outcome != 'running'").fetchone()
        return int(runs), int(ended)
    return -1, -1


def _opened(ledger: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{ledger.resolve().as_uri()}?mode=ro", uri=True)


def bring_study(storage: Storage, study_dir: Path) -> bool:
    """Bring a study that runs or ran elsewhere to a folder (absolute) of this machine.

    Returns whether its ledger was ahead of the local one.
    """
    if holder(study_dir) is not None:
        remedy = "Wait for its end: what it has is here"
        raise InputError("a driver of this machine runs it", where=str(study_dir), remedy=remedy)
    is_new = bring_ledger(storage, study_dir)
    if not ledger_path(study_dir).exists():
        remedy = "Submit it, or wait until its first cell has started"
        raise InputError(f"no study {study_dir.name!r}", where=storage.location, remedy=remedy)
    note_storage(study_dir, storage)
    files = StudyFiles(study_dir, storage)
    files.bring_results()
    files.bring_outcomes()
    return is_new


def note_storage(study_dir: Path, storage: Storage) -> None:
    """Note beside the ledger where a study's files lie."""
    write_whole(storage_file(study_dir), json.dumps({"location": storage.location}) + "\n")


@contextmanager
def stored_study(storage: Storage, study_dir: Path, callback: StudyCallback) -> Iterator[CopyingCallback]:
    """Hold the study's lease, take the newest ledger, and copy it as it grows."""
    storage.require(is_new=not storage_file(study_dir).is_file())
    lease = DriverLease(storage, study_dir.name)
    lease.take(callback.message)
    answers = True
    try:
        note_storage(study_dir, storage)
        if holder(study_dir) is None and bring_ledger(storage, study_dir):
            callback.message("goes on with the ledger that lies in the storage")
        copying = CopyingCallback(callback, storage, study_dir, lease)
        with copying.copying():
            yield copying
    except Unavailable:
        answers = False
        raise
    finally:
        if answers:
            with suppress(Unavailable):
                lease.release()
