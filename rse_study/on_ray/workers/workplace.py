"""The workplace of a process: a cell's folder, its materials, and published files."""

import os
import shutil
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from threading import Event, Thread

import psutil

from rse_study.data import cache_dir
from rse_study.downstream.models import CLASSIFIERS, RelocatableEvaluation
from rse_study.errors import Unavailable
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.workers import BaselinePayload, Payload
from rse_study.results.files.atomic import make_folder, write_whole
from rse_study.storage.folders import NodeCache, get_folder, is_stored, put_folder, remove_folder
from rse_study.storage.storage import Storage
from rse_study.training.materials import Materials

WORK = "work"
"""folder of this machine's cache for the work of its processes"""
GROWING_SECONDS = 60.0
"""of an attack's work, at most, that a lost node takes with it"""


class StoredFolder:
    """A folder of this machine, and its copy in a storage.

    Without a storage, everybody sees the folder itself, and nothing is copied.
    """

    def __init__(self, storage: Storage | None, key: str, folder: Path) -> None:
        self._storage, self._key, self.folder = storage, key, folder

    def bring(self, name: str) -> None:
        """Copy a file or folder from the storage, if it is there."""
        if self._storage and not get_folder(self._storage, f"{self._key}/{name}", self.folder / name):
            self.bring_file(name)

    def bring_file(self, name: str) -> None:
        """Copy a file from the storage, if it is there."""
        if self._storage and (content := self._storage.find(f"{self._key}/{name}")) is not None:
            write_whole(self.folder / name, content)

    def publish(self, name: str) -> None:
        """Store a file or folder, or remove it from the storage if it is gone here."""
        if self._storage is None:
            return
        key, here = f"{self._key}/{name}", self.folder / name
        if here.is_dir():
            put_folder(self._storage, key, here)
        elif here.is_file():
            self._storage.write(key, here.read_bytes())
        else:
            remove_folder(self._storage, key)
            self._storage.delete(key)

    def publish_growing(self, name: str) -> None:
        """Store a folder, if it exists, while others add to its files."""
        here = self.folder / name
        if self._storage is None or not here.is_dir():
            return
        still = here.with_name(f".{here.name}.still")  # a copy to which nobody adds
        shutil.rmtree(still, ignore_errors=True)
        shutil.copytree(here, still, ignore=shutil.ignore_patterns(".*"))
        try:
            put_folder(self._storage, f"{self._key}/{name}", still)
        finally:
            shutil.rmtree(still, ignore_errors=True)


def storage_cache() -> Path:
    """Return this machine's folder for copies from storages."""
    return cache_dir().absolute() / "storage"


@dataclass(frozen=True)
class Workplace:
    """Files of a process on its own machine."""

    files: StoredFolder
    """of results, and where others see them"""
    read_materials: Callable[[], Materials]
    evaluations: tuple[Evaluation, ...] = ()

    @property
    def folder(self) -> Path:
        return self.files.folder

    def publish(self, name: str) -> None:
        """Copy a file or folder to where others see it."""
        self.files.publish(name)

    @cached_property
    def materials(self) -> Materials:
        return self.read_materials()

    @contextmanager
    def published_as_it_grows(self, name: str) -> Iterator[None]:
        """Publish a folder now and then while it grows, and at the end."""
        over = Event()

        def keep_publishing() -> None:
            while not over.wait(GROWING_SECONDS):
                with suppress(Unavailable):  # whoever needs it to be there publishes it at the end
                    self.files.publish_growing(name)

        thread = Thread(target=keep_publishing, name=f"publishing {name}", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
        self.publish(name)


def work_folder(payload: Payload) -> Path:
    """Return the folder of this machine in which a payload's process writes."""
    return cache_dir().absolute() / WORK if payload.storage else Path(payload.folder)


@contextmanager
def workplace(
    payload: Payload, names: Sequence[str] = (), evaluations: Sequence[Evaluation] = ()
) -> Iterator[Workplace]:
    """Give a process the study's folders, or copies of those `names` from the storage."""
    if not payload.storage:
        make_folder(Path(payload.folder))  # which outlives a power cut, as a result in it must
        files = StoredFolder(None, payload.folder, Path(payload.folder))
        yield Workplace(files, partial(Materials.load, Path(payload.materials)), tuple(evaluations))
        return
    storage = Storage(payload.storage, payload.patience_s)
    shared = NodeCache(storage_cache(), storage)

    def take(name: str) -> str:
        return str(shared.take(name)) if is_stored(name) else name

    def read_stored() -> Materials:
        return Materials.from_json(storage.read(payload.materials).decode()).relocated(take)

    moved = (one.relocated(take) if isinstance(one, RelocatableEvaluation) else one for one in evaluations)
    with _own_folder(payload) as folder:
        files = StoredFolder(storage, payload.folder, folder)
        for name in names:
            files.bring(name)
        yield Workplace(files, read_stored, tuple(moved))


@contextmanager
def _own_folder(payload: Payload) -> Iterator[Path]:
    """Make a folder for one process; delete those of killed processes of this host."""
    root, host = work_folder(payload), socket.gethostname()  # several hosts may share a cache
    root.mkdir(parents=True, exist_ok=True)
    for other in root.glob("*-*-*"):
        owner, _, pid = other.name.partition("-")[2].rpartition("-")
        if owner == host and not psutil.pid_exists(int(pid)):
            shutil.rmtree(other, ignore_errors=True)
    folder = root / f"{Path(payload.folder).name}-{host}-{os.getpid()}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    try:
        if isinstance(payload, BaselinePayload):
            # Victims of one base serve several of its tasks on this machine.
            (root / CLASSIFIERS).mkdir(exist_ok=True)
            (folder / CLASSIFIERS).symlink_to(root / CLASSIFIERS)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
