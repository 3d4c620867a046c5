"""What this node took from a storage: each folder once, for all its cells."""

import shutil
from pathlib import Path

from rse_study.errors import InputError
from rse_study.storage.folders import drafts_of, fingerprint_of_folder, get_folder, has_folder, put_folder
from rse_study.storage.locked import locked
from rse_study.storage.storage import Storage

SHARED = "shared"
"""Prefix of the folders that are stored by their content, and never change."""
MARK = "storage:"
"""What the name of such a folder begins with where otherwise a path would stand."""


class NodeCache:
    """Folders of a storage that never change, as folders of this node.

    Parameters
    ----------
    root : Path
        This node's cache.
    storage : Storage
        Where they are taken from.
    """

    def __init__(self, root: Path, storage: Storage) -> None:
        self._root, self._storage = root, storage

    def put(self, folder: Path) -> str:
        """Store a folder unless it is there; the name under which any node can take it."""
        key = f"{SHARED}/{folder.name.lstrip('.')}-{fingerprint_of_folder(folder)[:16]}"
        if not has_folder(self._storage, key):
            put_folder(self._storage, key, folder)
        return MARK + key

    def take(self, name: str) -> Path:
        """The folder of that name on this node.

        Of several processes one fetches it, and the others wait.

        Raises
        ------
        InputError
            Where the storage has none of that name.
        """
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
        for draft in drafts_of(folder):  # of a process that was killed: no other is at it now
            shutil.rmtree(draft, ignore_errors=True)
        if not get_folder(self._storage, key, folder):
            remedy = "Run the study again: its driver puts there what is missing"
            raise InputError(f"no {key}", where=self._storage.location, remedy=remedy)


def is_stored(name: str) -> bool:
    """Whether this names a folder of a storage, and not one of this machine."""
    return name.startswith(MARK)
