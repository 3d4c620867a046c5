"""A study as one file, from which it is read, replayed and continued elsewhere."""

import json
import lzma
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from rse_study.errors import InputError, first_line
from rse_study.results.files.cell_file import FILE_NAME as CELL
from rse_study.results.files.connect import open_study
from rse_study.results.files.evaluation_file import FILE_NAME as EVALUATIONS
from rse_study.results.files.item_file import FILE_NAME as ITEMS
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.result_file import FILE_NAME as RESULT
from rse_study.results.files.schema import ledger_path
from rse_study.results.files.study_file import read_revisions
from rse_study.results.records import StudyRecord
from rse_study.spec import hash_file

SUFFIXES = (".tar.xz", ".tar.gz", ".tgz", ".tar")
ASSETS = "assets"
"""Folder in a study's folder with the trained weights that came with its archive."""
FILES_OF_WEIGHTS = ("model.safetensors", "meta.json", "config.json")
ORIGIN = "archive.json"
"""File in an unpacked study's folder that identifies its archive."""
MOST_BYTES, MOST_FILES = 4 * 2**30, 200_000
FILES_OF_NUMBERS = ("study.json", CELL, RESULT, EVALUATIONS, ITEMS)
"""Files beside the ledger that hold numbers; models, checkpoints and attacked texts are left out."""


def is_archive(path: str | Path) -> bool:
    """Whether a user's argument names an archive, by its suffix."""
    return str(path).endswith(SUFFIXES)


def write_archive(study_dir: Path, path: Path, assets: Iterable[Path] = ()) -> Path:
    """Write a study's ledger, results and resolved file to a .tar.xz; return its path.

    `assets` are folders of encoders and generators that the study's cells were trained with: their weights come
    along. Models of cells, checkpoints, tokenizers and attacked texts are left out: numbers alone may be passed on
    without asking anybody.
    """
    with closing(open_study(study_dir)) as ledger:
        study = LedgerQueries(ledger).frozen_study(str(study_dir))
    top = Path(study.name)
    try:
        with tarfile.open(path, "w:xz") as archive, TemporaryDirectory() as folder:
            archive.add(_ledger_copy(study_dir, Path(folder)), str(top / ledger_path(study_dir).name))
            for file in sorted(study_dir.rglob("*.json")):
                if file.name in FILES_OF_NUMBERS and ASSETS not in file.relative_to(study_dir).parts:
                    archive.add(file, str(top / file.relative_to(study_dir)))
            for asset in assets:
                for name in FILES_OF_WEIGHTS:
                    archive.add(asset / name, str(top / ASSETS / asset.name / name))
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError(what, where=str(path), remedy="Name another folder") from None
    return path


def _ledger_copy(study_dir: Path, folder: Path) -> Path:
    """Copy the ledger as it is between two transactions, even while a driver writes it."""
    copy = folder / ledger_path(study_dir).name
    with (
        closing(sqlite3.connect(ledger_path(study_dir))) as ledger,
        closing(sqlite3.connect(copy)) as into,
    ):
        ledger.backup(into)
    return copy


def unpack_archive(archive: Path, store: Path) -> Path:
    """Unpack a study's archive into the store, and return the study's folder.

    A study that was unpacked from the same file before is left as it is. An archive may come from a stranger: only
    plain files of a study are taken from it, and none leads out of its folder. Raises InputError if the file is no
    archive of a study, if it is too large, or if another study has its place.
    """
    origin = {"sha256": _hash(archive)}
    try:
        store.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unpacked-", dir=store) as folder:
            name = _extract(archive, Path(folder), store)
            draft, final = Path(folder) / name, store / name
            if final.exists():
                _require_unpacked_from(origin, final, archive)
                return final
            study = _checked_study(draft, archive)
            resolved = json.dumps(study.resolved, indent=2, ensure_ascii=False) + "\n"
            (draft / f"{name}.yaml").write_text(resolved, encoding="utf-8")
            (draft / ORIGIN).write_text(json.dumps(origin) + "\n", encoding="utf-8")
            draft.rename(final)
    except OSError as error:
        what = f"cannot be unpacked: {error.strerror or error}"
        raise InputError(what, where=str(store), remedy="Name another folder: --store DIR") from None
    return final


def _checked_study(draft: Path, archive: Path) -> StudyRecord:
    """Return the unpacked study; refuse one whose files are not what they should be."""
    try:
        study = read_revisions(draft)[-1].study
        kinds, names = _content_of_ledger(draft) if ledger_path(draft).is_file() else (set(), [])
    except (InputError, sqlite3.Error, ValueError) as error:
        why = error.what if isinstance(error, InputError) else first_line(error)
        raise _refused(archive, f"its files are damaged: {why}") from None
    if study.name != draft.name:
        raise _refused(archive, f"its folder is {draft.name!r} and its study {study.name!r}")
    if not kinds <= {"table", "index"} or not all(re.fullmatch("[0-9a-f]{16,64}", name) for name in names):
        raise _refused(archive, "its ledger holds what no ledger holds")
    return study


def _content_of_ledger(draft: Path) -> tuple[set[str], list[str]]:
    """Return the kinds of a ledger's parts and the identities of its cells, which name folders."""
    with closing(open_study(draft)) as ledger:
        LedgerQueries(ledger).frozen_study(draft.name)
        names = [cell.identity for cell in LedgerQueries(ledger).cells()]
    with closing(sqlite3.connect(ledger_path(draft))) as as_it_came:  # the other may be migrated in memory
        return {kind for (kind,) in as_it_came.execute("SELECT type FROM sqlite_master")}, names


def _hash(archive: Path) -> str:
    try:
        return hash_file(archive)
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
        raise InputError(
            what, where=str(archive), remedy="Name an archive that `rse-study archive` wrote"
        ) from None


def _require_unpacked_from(origin: dict[str, str], final: Path, archive: Path) -> None:
    marker = final / ORIGIN
    if not marker.is_file() or json.loads(marker.read_text(encoding="utf-8")) != origin:
        rule = f"{final} holds another state of this study, and nothing is overwritten"
        remedy = "Name that folder to read it, or unpack this one elsewhere: --store DIR"
        raise InputError("cannot be unpacked", where=str(archive), rule=rule, remedy=remedy)


def _extract(archive: Path, folder: Path, store: Path) -> str:
    """Extract the files of the one study in the archive, unless the store has it; return its name."""
    name = ""
    try:
        with tarfile.open(archive, "r:*") as files:
            for member in _bounded(files, archive):
                parts = PurePosixPath(member.name).parts
                if not member.isfile() or not _belongs(parts):
                    continue
                if parts[0] != (name := name or parts[0]):
                    raise _refused(archive, f"it holds two studies: {name} and {parts[0]}")
                if (store / name).exists():
                    break
                files.extract(member, folder, filter="data")
    except (tarfile.TarError, lzma.LZMAError, zlib.error, EOFError) as error:
        raise _refused(archive, first_line(error)) from None
    if not name:
        raise _refused(archive, "it holds no file of a study")
    return name


def _bounded(files: tarfile.TarFile, archive: Path) -> Iterator[tarfile.TarInfo]:
    """Yield the members; refuse more than a study can have, before they are read."""
    num_bytes = 0
    for number, member in enumerate(files, 1):
        num_bytes += member.size
        if number > MOST_FILES or num_bytes > MOST_BYTES:
            raise _refused(archive, f"more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB")
        yield member


def _belongs(parts: tuple[str, ...]) -> bool:
    """Whether a file is one that `write_archive` writes."""
    if len(parts) < 2 or not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", parts[0]):
        return False
    known = FILES_OF_WEIGHTS if parts[1] == ASSETS else (*FILES_OF_NUMBERS, ledger_path(Path()).name)
    return parts[-1] in known


def _refused(archive: Path, why: str) -> InputError:
    remedy = "Ask for it again: rse-study archive STUDY writes one"
    return InputError("is no archive of a study", where=str(archive), rule=why, remedy=remedy)
