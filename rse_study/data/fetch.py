"""Downloads of data sets from the hub and GitHub into the layout of the readers."""

import gzip
import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from rse_study.activity import ProgressCallback
from rse_study.data.catalogue import (
    FETCHED,
    ArchiveHome,
    DataSet,
    FileHome,
    Home,
    TableHome,
    catalogue,
    fetched_checksums,
    present,
)
from rse_study.data.download import (
    CONVERSIONS,
    RemoteFile,
    documents,
    download,
    download_from_hub,
    on_github,
    on_hub,
)
from rse_study.data.hub import load_split
from rse_study.errors import InputError, first_line
from rse_study.results.archive import DAMAGE, read_tar
from rse_study.results.files.atomic import write_whole

DOWNLOADS = ".downloads"  # in the data folder: what is not whole yet


@dataclass(frozen=True)
class Source:
    """A mirror, the hub or GitHub, from which repositories' files are read."""

    data_dir: Path
    mirror: Path | None
    on_progress: ProgressCallback = lambda done, total: None

    def has_copy_of(self, home: Home) -> bool:
        return self.mirror is not None and (self.mirror / home.repository).is_dir()

    def describe(self, home: Home, path: str) -> RemoteFile:
        if isinstance(home, FileHome) and home.commit:
            return on_github(home.repository, home.commit, path, self.data_dir / DOWNLOADS)
        if isinstance(home, TableHome):
            # The hub's own library downloads it, and keeps it in a cache of its own.
            return RemoteFile(home.repository, "", 0, Path(home.repository))
        return on_hub(home.repository, path)

    def release(self, path: Path) -> None:
        """Delete a file that was downloaded for its content alone."""
        if path.parent == self.data_dir / DOWNLOADS:
            path.unlink()
            if not any(path.parent.iterdir()):
                path.parent.rmdir()

    def file(self, home: Home, path: str) -> Path:
        """Return a file on this machine, downloaded if there is no copy of its repository."""
        if self.mirror is not None and self.has_copy_of(home):
            local = self.mirror / home.repository
            name = path or "archive.tar.gz"
            if (local / name).is_file():
                return local / name
            rule = "a mirror folder must hold every file that is needed"
            remedy = "Add it, or remove the folder"
            raise InputError(f"holds no {name}", where=str(local), rule=rule, remedy=remedy)
        if isinstance(home, FileHome) and home.commit:
            return download(self.describe(home, path), self.on_progress)
        return download_from_hub(home.repository, path, self.on_progress)


AS_THEY_ARE = (".zip", ".parquet")
"""Files that other libraries open, which are stored without compression."""


@dataclass(frozen=True)
class Fetched:
    """One file that was written, or kept because it existed."""

    path: str
    repository: str
    rows: int
    was_here: bool

    def __str__(self) -> str:
        lines = f"{self.rows:,} lines " if self.rows else ""
        return f"{self.path}: " + ("here already" if self.was_here else f"{lines}from {self.repository}")


def fetch(
    name: str,
    data_dir: Path,
    mirror: Path | None = None,
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[Fetched]:
    """Write the set's missing files; existing ones are never replaced.

    A folder `owner/name` in `mirror` is used instead of the hub or GitHub. `on_progress` gets the bytes of one download
    after another.
    """
    entry, done = catalogue().get(name), list[Fetched]()
    require_home(entry)
    for home in entry.homes:
        wanted = _wanted(home, entry, data_dir)
        here = [path for path in _targets(home, entry) if path not in wanted]
        done.extend(Fetched(path, home.repository, 0, was_here=True) for path in here)
        try:
            for path, content in _contents(home, wanted, entry, Source(data_dir, mirror, on_progress)):
                _store(data_dir, path, content, home.repository)
                rows = 0 if path.endswith(AS_THEY_ARE) else content.count(b"\n")
                done.append(Fetched(path, home.repository, rows, was_here=False))
        except DAMAGE as error:
            rule, remedy = first_line(error), "Get the files by hand: rse-study data list"
            raise InputError("is damaged", where=home.repository, rule=rule, remedy=remedy) from None
    return done


def require_home(entry: DataSet) -> None:
    """Raise InputError for a set that has to be placed by hand."""
    if not entry.homes:
        raise InputError("has no known home", where=entry.name, remedy=entry.remedy)


def downloads(names: list[str], data_dir: Path, mirror: Path | None = None) -> dict[str, list[RemoteFile]]:
    """Ask the servers what is to be downloaded for each set, and how large it is.

    What is in the mirror is not asked for.
    """
    found: dict[str, list[RemoteFile]] = {}
    for name in names:
        entry = catalogue().get(name)
        for home in entry.homes:
            wanted, source = _wanted(home, entry, data_dir), Source(data_dir, mirror)
            if not source.has_copy_of(home):
                found.setdefault(name, []).extend(
                    source.describe(home, path) for path in home.sources(wanted)
                )
    return found


def _wanted(home: Home, entry: DataSet, data_dir: Path) -> list[str]:
    missing = {file.path for file in entry.files if present(file, data_dir) is None}
    return [path for path in _targets(home, entry) if path in missing]


def _targets(home: Home, entry: DataSet) -> list[str]:
    return home.targets([file.path for file in entry.files])


def _contents(home: Home, wanted: list[str], entry: DataSet, source: Source) -> Iterator[tuple[str, bytes]]:
    if isinstance(home, ArchiveHome):
        if wanted:
            yield from _from_archive(home, wanted, source.file(home, home.archive))
    elif isinstance(home, FileHome):
        for member, path in home.members.items():
            if path in wanted:
                yield path, _converted(home, member, path, entry, source)
    else:
        for split, path in home.splits.items():
            if path in wanted:
                yield path, _table_text(home, split, source.mirror or source.data_dir)


def _converted(home: FileHome, member: str, path: str, entry: DataSet, source: Source) -> bytes:
    """Read a member in the reader's form; InputError if the catalogue has another content."""
    (file,) = (file for file in entry.files if file.path == path)
    is_folder = home.conversion == "documents"
    local = source.file(home, "" if is_folder else member)
    with local.open("rb") as stream:
        read = b"".join(islice(stream, file.rows)) if home.is_head else stream.read()
    source.release(local)
    content = documents(read, member) if is_folder else CONVERSIONS[home.conversion](read)
    checksum = hashlib.sha256(content).hexdigest()
    if home.is_exact and file.sha256 not in ("", checksum):
        rule = f"its sha256 is {checksum[:12]}..., the catalogue's {file.sha256[:12]}..."
        remedy = f"Put {path} into the data folder by hand, and run: rse-study data verify {entry.name}"
        where = f"{home.repository}/{member}"
        raise InputError("is not the file of the catalogue", where=where, rule=rule, remedy=remedy)
    return content


def _from_archive(home: ArchiveHome, wanted: list[str], archived: Path) -> Iterator[tuple[str, bytes]]:
    insides = {outside: inside for inside, outside in home.folders.items()}
    lacking = {f"/{insides[str(Path(path).parent)]}/{Path(path).name}": path for path in wanted}
    with archived.open("rb") as packed:
        for member, content in read_tar(packed):
            suffix = next((one for one in lacking if f"/{member.name}".endswith(one)), "")
            if suffix and member.isreg():
                yield lacking.pop(suffix), b"".join(content)
    for suffix in lacking:
        where, remedy = f"{home.repository}/{home.archive}", "The archive has changed: get the file by hand"
        raise InputError(f"holds no {suffix[1:]}", where=where, remedy=remedy)


def _table_text(home: TableHome, split: str, mirror: Path) -> bytes:
    table = load_split(home.repository, split, mirror)
    lacking = [column for column in home.columns if column not in table.column_names]
    if lacking:
        where, remedy = f"dataset {home.repository}", "Get the set's files by hand: rse-study data list"
        rule = f"the dataset's layout has changed: it has {', '.join(table.column_names)}"
        raise InputError(f"no column {', '.join(lacking)}", where=where, rule=rule, remedy=remedy)
    columns = [[_cell(value) for value in table[column]] for column in home.columns]
    return "".join("\t".join(row) + "\n" for row in zip(*columns, strict=True)).encode()


def _cell(value: object) -> str:
    """Format text without tabs and line ends, scores as in STS-B."""
    return f"{value:.3f}" if isinstance(value, float) else " ".join(str(value).split())


def _store(data_dir: Path, path: str, content: bytes, repository: str) -> None:
    """Write the file, compressed if it is a text, and then its record, each atomically."""
    record = {"sha256": hashlib.sha256(content).hexdigest(), "repository": repository}
    is_text = not path.endswith(AS_THEY_ARE)
    target = data_dir / (f"{path}.gz" if is_text else path)
    try:
        write_whole(target, gzip.compress(content, mtime=0) if is_text else content)
        records = {**fetched_checksums(data_dir), path: record}
        write_whole(data_dir / FETCHED, json.dumps(records, indent=1, sort_keys=True).encode())
    except OSError as error:
        remedy = "Set RSE_STUDY_DATA to a folder of yours"
        raise InputError(f"cannot be written ({error.strerror})", where=str(target), remedy=remedy) from None
