"""Downloads of data sets from the Hugging Face hub into the layout of the readers."""

import gzip
import hashlib
import json
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import assert_never

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
from rse_study.data.hub import load_split
from rse_study.errors import InputError
from rse_study.results.atomic import write_whole


@dataclass(frozen=True)
class Fetched:
    """One file that was written, or kept because it existed."""

    name: str
    path: str
    repository: str
    rows: int
    was_here: bool

    def __str__(self) -> str:
        return f"{self.path}: " + (
            "here already" if self.was_here else f"{self.rows:,} lines from {self.repository}"
        )


def fetch(
    name: str,
    data_dir: Path,
    mirror: Path | None = None,
    on_progress: ProgressCallback = lambda done, total: None,
) -> list[Fetched]:
    """Write the set's missing files; existing ones are never replaced.

    A folder `owner/name` in `mirror` (by default `data_dir`) is used instead of the hub.
    """
    entry = catalogue().get(name)
    if not entry.homes:
        remedy = f"Put its files into {data_dir} by hand (source: {entry.source}); see `rse-study data list`"
        raise InputError("has no known home on the hub", where=name, remedy=remedy)
    done: list[Fetched] = []
    num_files = sum(len(_targets(home, entry)) for home in entry.homes)
    for home in entry.homes:
        wanted = [path for path in _targets(home, entry) if _missing(entry, path, data_dir)]
        here = [path for path in _targets(home, entry) if path not in wanted]
        done.extend(Fetched(name, path, home.repository, 0, was_here=True) for path in here)
        on_progress(len(done), num_files)
        for path, content in _contents(home, wanted, mirror or data_dir) if wanted else ():
            _store(data_dir, path, content, home.repository)
            done.append(Fetched(name, path, home.repository, content.count(b"\n"), was_here=False))
            on_progress(len(done), num_files)
    return done


def _targets(home: Home, entry: DataSet) -> list[str]:
    match home:
        case FileHome():
            return list(home.members.values())
        case TableHome():
            return list(home.splits.values())
        case ArchiveHome():
            folders = tuple(f"{folder}/" for folder in home.folders.values())
            # SentEval's archive has the sentence-level SST files under no name of its own
            paths = [file.path for file in entry.files if not Path(file.path).name.startswith("stsa.")]
            return [path for path in paths if path.startswith(folders)]
        case _:
            assert_never(home)


def _missing(entry: DataSet, path: str, data_dir: Path) -> bool:
    return all(present(file, data_dir) is None for file in entry.files if file.path == path)


def _contents(home: Home, wanted: list[str], mirror: Path) -> Iterator[tuple[str, bytes]]:
    match home:
        case FileHome():
            for member, path in home.members.items():
                if path in wanted:
                    yield path, _repository_file(home.repository, member, mirror).read_bytes()
        case ArchiveHome():
            yield from _from_archive(home, wanted, mirror)
        case TableHome():
            for split, path in home.splits.items():
                if path in wanted:
                    yield path, _table_text(home, split, mirror)
        case _:
            assert_never(home)


def _from_archive(home: ArchiveHome, wanted: list[str], mirror: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(_repository_file(home.repository, home.archive, mirror)) as archive:
        members = {member.name: member for member in archive.getmembers() if member.isfile()}
        for inside, outside in home.folders.items():
            for path in wanted:
                suffix = f"{inside}/{Path(path).name}"
                found = [name for name in members if f"/{name}".endswith(f"/{suffix}")]
                if path.startswith(f"{outside}/") and not found:
                    remedy = "The archive has changed: get the file by hand"
                    raise InputError(
                        f"holds no {suffix}", where=f"{home.repository}/{home.archive}", remedy=remedy
                    )
                stream = archive.extractfile(members[found[0]]) if found else None
                if stream is not None:
                    yield path, stream.read()


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


def _repository_file(repository: str, name: str, mirror: Path) -> Path:
    local = mirror / repository
    if local.is_dir():
        if (local / name).is_file():
            return local / name
        rule, remedy = "the folder stands for the hub's repository", "Complete it, or take it away"
        raise InputError(f"holds no {name}", where=str(local), rule=rule, remedy=remedy)
    from huggingface_hub import hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return Path(hf_hub_download(repository, name, repo_type="dataset"))
    except (HfHubHTTPError, OSError) as error:  # LocalEntryNotFoundError (no connection) is an OSError
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        remedy = f"Check the connection, or put the repository's files into {local}"
        raise InputError(
            f"cannot be fetched ({reason})", where=f"{repository}/{name}", remedy=remedy
        ) from None


def _store(data_dir: Path, path: str, content: bytes, repository: str) -> None:
    """Write the compressed file and then its record, each atomically."""
    record = {"sha256": hashlib.sha256(content).hexdigest(), "repository": repository}
    target = data_dir / f"{path}.gz"
    try:
        write_whole(target, gzip.compress(content, mtime=0))
        records = {**fetched_checksums(data_dir), path: record}
        write_whole(data_dir / FETCHED, json.dumps(records, indent=1, sort_keys=True).encode())
    except OSError as error:
        remedy = "Set RSE_STUDY_DATA to a folder of yours"
        raise InputError(f"cannot be written ({error.strerror})", where=str(target), remedy=remedy) from None
