"""This node's cache of a storage, which holds each folder once for all cells."""

import shutil
from pathlib import Path

from rse_study.errors import InputError
from rse_study.storage.folders import drafts_of, fingerprint_of_folder, get_folder, has_folder, put_folder
from rse_study.storage.locked import locked
from rse_study.storage.storage import Storage

SHARED = "shared"
"""Prefix of folders stored by content, which never change."""
MARK = "storage:"


class NodeCache:
    """Local copies of storage folders that never change."""

    def __init__(self, root: Path, storage: Storage) -> None:
        self._root, self._storage = root, storage

    def put(self, folder: Path) -> str:
        """Store a folder unless it is there; return its name for any node."""
        key = f"{SHARED}/{folder.name.lstrip('.')}-{fingerprint_of_folder(folder)[:16]}"
        if not has_folder(self._storage, key):
            put_folder(self._storage, key, folder)
        return MARK + key

    def take(self, name: str) -> Path:
        """Return the local folder of that name; one process fetches it, others wait."""
        key = name.removeprefix(MARK)
        folder = self._root / key
        if folder.is_dir():
            return folder
        folder.parent.mkdir(parents=True, exist_ok=True)
        with locked(folder.with_name(f".{folder.name}.lock")):
            if not folder.is_dir():
                self._fetch(key, folder)
        return folder

    def _fetch(self, key: str, folder: Path) -> None:
        for draft in drafts_of(folder):  # left by a killed process: no other holds the lock
            shutil.rmtree(draft, ignore_errors=True)
        if not get_folder(self._storage, key, folder):
            remedy = "Run the study again: its driver puts there what is missing"
            raise InputError(f"no {key}", where=self._storage.location, remedy=remedy)


def is_stored(name: str) -> bool:
    """Whether the name refers to a folder in a storage rather than on this machine."""
    return name.startswith(MARK)
