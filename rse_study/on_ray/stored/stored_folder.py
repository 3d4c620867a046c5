"""A folder of a study and its place in a storage, if it is not its own."""

import shutil
from pathlib import Path

from rse_study.results.files.atomic import write_whole
from rse_study.storage.folders import get_folder, put_folder, remove_folder
from rse_study.storage.storage import Storage


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
