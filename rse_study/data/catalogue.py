"""The catalogue of data sets: content, origin and checksums."""

import gzip
import hashlib
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rse_study.activity import ProgressCallback
from rse_study.data import SUBSETS
from rse_study.data.text_files import find_file
from rse_study.errors import InputError
from rse_study.registry import Registry
from rse_study.spec import Spec
from rse_study.yaml12 import read_yaml

FETCHED = "fetched.json"  # in the data folder: files `fetch` wrote, their repositories and sha256
FileStatus = Literal["ok", "fetched", "unmeasured", "different", "missing"]


class File(Spec):
    """One file, below the data folder; it may lie there plain or with `.gz` added."""

    path: str
    rows: int = 0
    """line ends; 0 for what is no text"""
    sha256: str = ""  # of the uncompressed content; empty = never measured


class FileHome(Spec):
    """Files of a dataset on the hub, or of a GitHub repository at a commit."""

    kind: Literal["file"] = "file"
    repository: str
    commit: str = Field("", pattern="^([0-9a-f]{40})?$")
    """on GitHub; empty for a dataset on the hub"""
    members: dict[str, str]
    """path in the repository -> path below the data folder; for `documents` a folder"""
    conversion: str = "none"
    """how the reader's form is made of a file: `documents`, or a key of CONVERSIONS"""
    is_head: bool = False
    """whether only the first lines are kept, as many as the catalogue counts"""
    is_exact: bool = True
    """whether the catalogue's checksums, where it has any, are those of what is written"""

    def targets(self, paths: list[str]) -> list[str]:
        """Return which of a set's files are filled from here."""
        return [*self.members.values()]

    def sources(self, wanted: list[str]) -> list[str]:
        """Return the files of the repository that hold what is wanted; "" is all of it."""
        members = [member for member, path in self.members.items() if path in wanted]
        return [""] * bool(members) if self.conversion == "documents" else members


class ArchiveHome(Spec):
    """Folders of a tar archive in a dataset repository."""

    kind: Literal["archive"] = "archive"
    repository: str
    archive: str
    folders: dict[str, str]
    """folder in the archive -> folder below the data folder"""

    def targets(self, paths: list[str]) -> list[str]:
        folders = tuple(f"{folder}/" for folder in self.folders.values())
        return [path for path in paths if path.startswith(folders)]

    def sources(self, wanted: list[str]) -> list[str]:
        return [self.archive] * bool(wanted)


class TableHome(Spec):
    """Splits of a dataset, written as tab separated columns."""

    kind: Literal["table"] = "table"
    repository: str
    columns: tuple[str, ...]
    splits: dict[str, str]
    """split -> path below the data folder"""

    def targets(self, paths: list[str]) -> list[str]:
        return [*self.splits.values()]

    def sources(self, wanted: list[str]) -> list[str]:
        return [""] * bool(wanted)


Home = Annotated[FileHome | ArchiveHome | TableHome, Field(discriminator="kind")]


class DataSet(Spec):
    """One set of the catalogue."""

    name: str
    what: str
    licence: str
    source: str
    restricted: bool = False
    """whether its licence forbids some uses, such as commercial ones"""
    homes: tuple[Home, ...] = ()
    files: tuple[File, ...]

    @model_validator(mode="before")
    @classmethod
    def _fill(cls, content: dict[str, Any]) -> dict[str, Any]:
        """Take the files that homes fill where none are listed."""
        filled = [
            {"path": path} for home in content.get("homes", ()) for path in home.get("members", {}).values()
        ]
        return {"files": filled, **content}

    @property
    def common_path(self) -> str:
        """The file, or the folder that all its files share, below the data folder."""
        paths = [file.path for file in self.files]
        return paths[0] if len(paths) == 1 else f"{os.path.commonpath(paths)}/"

    @property
    def remedy(self) -> str:
        """How to get its files."""
        if self.homes:
            return f"Fetch it: rse-study data fetch {self.name}"
        by_hand = f"Put {self.common_path} into the data folder by hand (source: {self.source})"
        return f"{by_hand}, then run: rse-study data verify {self.name}"


@dataclass(frozen=True)
class CatalogueEntry:
    """A line of `rse-study data list`: a set, and its files that are not here."""

    data_set: DataSet
    missing: tuple[str, ...]
    """paths below the data folder"""

    @property
    def name(self) -> str:
        return self.data_set.name

    @property
    def num_files(self) -> int:
        return len(self.data_set.files)

    @property
    def num_present(self) -> int:
        return self.num_files - len(self.missing)

    @property
    def can_fetch(self) -> bool:
        return bool(self.data_set.homes)


@dataclass(frozen=True)
class Verified:
    """A file compared with the catalogue.

    `ok` = as in the catalogue, `fetched` = as downloaded, `unmeasured` = no checksum to compare with.
    """

    name: str
    path: str
    status: FileStatus


@lru_cache(maxsize=1)
def catalogue() -> Registry[DataSet]:
    """Read all sets by name."""
    content = read_yaml(Path(__file__).with_name("catalogue.yaml"))["sets"]
    for task, subsets in SUBSETS.items():
        for name, copy in ((task, "senteval"), (f"{task}-orig", "orig")):
            paths = [f"sts/{task}/{copy}/STS.{kind}.{one}.txt" for one in subsets for kind in ("gs", "input")]
            content[name].setdefault("files", [{"path": path} for path in paths])
    return Registry("data set", {name: DataSet(name=name, **entry) for name, entry in content.items()})


@lru_cache(maxsize=1)
def sets_by_path() -> dict[str, DataSet]:
    """Map every file of the catalogue to its set."""
    return {file.path: catalogue().get(name) for name in catalogue() for file in catalogue().get(name).files}


def list_sets(data_dir: Path, names: Iterable[str] | None = None) -> list[CatalogueEntry]:
    """List the named sets, or all, with their missing files."""
    sets = (catalogue().get(name) for name in (catalogue() if names is None else names))
    return [CatalogueEntry(one, _missing(one, data_dir)) for one in sets]


def verify(
    names: list[str], data_dir: Path, on_progress: ProgressCallback = lambda done, total: None
) -> list[Verified]:
    """Compare all files of the named sets, or of every set, with their checksums."""
    chosen = [catalogue().get(name) for name in names or catalogue()]
    fetched = fetched_checksums(data_dir)
    files, verified = [(entry.name, file) for entry in chosen for file in entry.files], list[Verified]()
    for name, file in files:
        verified.append(_verify(name, file, data_dir, fetched))
        on_progress(len(verified), len(files))
    return verified


def present(file: File, data_dir: Path) -> Path | None:
    """Return the file's path, or None."""
    try:
        return find_file(file.path, data_dir)
    except InputError:
        return None


def fetched_checksums(data_dir: Path) -> dict[str, dict[str, str]]:
    """Read the record of downloads: path -> sha256, repository."""
    try:
        return json.loads((data_dir / FETCHED).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}


def _missing(entry: DataSet, data_dir: Path) -> tuple[str, ...]:
    return tuple(file.path for file in entry.files if present(file, data_dir) is None)


def _verify(name: str, file: File, data_dir: Path, fetched: dict[str, dict[str, str]]) -> Verified:
    path = present(file, data_dir)
    if path is None:
        return Verified(name, file.path, "missing")
    try:
        content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (EOFError, OSError):
        return Verified(name, file.path, "different")
    found = hashlib.sha256(content).hexdigest()
    statuses: dict[str, FileStatus] = {
        fetched.get(file.path, {}).get("sha256", ""): "fetched",
        file.sha256: "ok",
    }
    otherwise: FileStatus = "different" if file.sha256 or file.path in fetched else "unmeasured"
    return Verified(name, file.path, statuses.get(found, otherwise))
