"""Folders in a storage (objects and a manifest, written last), and copies of them."""

import fcntl
import json
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.files.atomic import replace_folder
from rse_study.results.files.schema import MODEL_FOLDER, cell_folder, storage_file
from rse_study.results.records import Record
from rse_study.spec import fingerprint_of, hash_file
from rse_study.storage.storage import Storage, study_key

SUFFIX = ".folder.json"


class StoredFile(Record):
    """One file of a stored folder."""

    size: int
    sha256: str


class Manifest(Record):
    """The list of files in a stored folder."""

    token: str
    """names the writer, so that concurrent writers do not mix their files"""
    files: dict[str, StoredFile]
    """by path below the folder"""


def files_of(folder: Path) -> dict[str, Path]:
    """Return all files below a folder by relative path, without drafts and locks."""
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    named = {path.relative_to(folder): path for path in found}
    hidden = {name for name in named if any(part.startswith(".") for part in name.parts)}
    return {name.as_posix(): path for name, path in named.items() if name not in hidden}


def fingerprint_of_folder(folder: Path) -> str:
    """Return the sha256 over names and contents of all files below a folder."""
    return fingerprint_of({name: hash_file(path) for name, path in files_of(folder).items()})


def put_folder(storage: Storage, key: str, folder: Path) -> None:
    """Store a folder unless unchanged; readers see the old or new one as a whole."""
    token, local = _token(), files_of(folder)
    files = {
        name: StoredFile(size=path.stat().st_size, sha256=hash_file(path)) for name, path in local.items()
    }
    content = storage.find(_manifest(key))
    before = None if content is None else _parsed(content, key)
    if before is not None and before.files == files:
        return
    for name, path in local.items():
        storage.upload(path, f"{key}/{token}/{name}")
    manifest = Manifest(token=token, files=files)
    storage.write(_manifest(key), manifest.model_dump_json(indent=1).encode())
    # Delete only the replaced files: others without a manifest may belong to a writer that is about to list them.
    if before is not None:
        for name in before.files:
            storage.delete(f"{key}/{before.token}/{name}")


def has_folder(storage: Storage, key: str) -> bool:
    """Whether a folder is stored under this key."""
    return storage.find(_manifest(key)) is not None


def get_folder(storage: Storage, key: str, target: Path) -> bool:
    """Replace a local folder by the stored one; False if no complete one is stored."""
    content = storage.find(_manifest(key))
    if content is None:
        return False
    manifest = _parsed(content, f"{storage.location}: {_manifest(key)}")
    draft = target.with_name(f".{target.name}.{_token()}")
    try:
        draft.mkdir(parents=True)
        for name, file in manifest.files.items():
            path = draft / name
            path.parent.mkdir(parents=True, exist_ok=True)
            storage.download(f"{key}/{manifest.token}/{name}", path)
            if hash_file(path) != file.sha256:
                what, rule = f"{key}/{name}", "its content is not what was written"
                raise InputError(what, where=storage.location, rule=rule, remedy="Remove it and run again")
    except FileNotFoundError:
        shutil.rmtree(draft, ignore_errors=True)
        return False
    replace_folder(draft, target)
    return True


def remove_folder(storage: Storage, key: str) -> None:
    """Remove what is stored under a key: first the manifest, then the files."""
    storage.delete(_manifest(key))
    for name in storage.keys(key):
        storage.delete(name)


def _token() -> str:
    return uuid.uuid4().hex[:12]


def _manifest(key: str) -> str:
    return key + SUFFIX


def _parsed(content: bytes, where: str) -> Manifest:
    try:
        return Manifest.model_validate(json.loads(content))
    except (ValueError, ValidationError) as error:
        raise InputError(
            f"damaged: {str(error).splitlines()[0]}", where=where, remedy="Remove it and run again"
        ) from None


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
        for draft in folder.parent.glob(
            f".{folder.name}.*"
        ):  # left by a killed process: no other holds the lock
            shutil.rmtree(draft, ignore_errors=True)
        if not get_folder(self._storage, key, folder):
            remedy = "Run the study again: its driver puts there what is missing"
            raise InputError(f"no {key}", where=self._storage.location, remedy=remedy)


def is_stored(name: str) -> bool:
    """Whether the name refers to a folder in a storage rather than on this machine."""
    return name.startswith(MARK)


def bring_model(study_dir: Path, identity: str) -> bool:
    """Copy a cell's model from the study's storage; False without storage or model."""
    if not storage_file(study_dir).is_file():
        return False
    storage = Storage(json.loads(storage_file(study_dir).read_text(encoding="utf-8"))["location"])
    key = f"{study_key(study_dir.name)}/{cell_folder(Path(), identity)}/{MODEL_FOLDER}"
    return get_folder(storage, key, cell_folder(study_dir, identity) / MODEL_FOLDER)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of this file; other processes on this machine wait."""
    # Keep the lock file: after a removal two processes could lock different files of the same name.
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
