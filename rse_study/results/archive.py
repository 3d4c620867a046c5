"""A study as one file, from which it is read, replayed and continued elsewhere."""

import json
import lzma
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory

from rse_study.errors import InputError, first_line
from rse_study.results.files.atomic import drafted
from rse_study.results.files.cell_file import FILE_NAME as CELL
from rse_study.results.files.connect import open_study
from rse_study.results.files.evaluation_file import FILE_NAME as EVALUATIONS
from rse_study.results.files.failures import failure_of
from rse_study.results.files.item_file import FILE_NAME as ITEMS
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.result_file import FILE_NAME as RESULT
from rse_study.results.files.schema import ledger_path
from rse_study.results.files.study_file import read_revisions
from rse_study.results.study_record import StudyRecord
from rse_study.spec import hash_file

LEDGER = ledger_path(Path()).name
ASSETS = "assets"
"""Folder in a study's folder with the trained weights that came with its archive, a file for each asset."""
WEIGHTS = ".safetensors"
ORIGIN = "archive.json"
"""File in an unpacked study's folder that identifies its archive."""
MOST_BYTES, MOST_FILES = 4 * 2**30, 200_000
FILES_OF_NUMBERS = ("study.json", CELL, RESULT, EVALUATIONS, ITEMS)
"""Files beside the ledger that hold numbers; models, checkpoints and attacked texts are left out."""


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
        with (
            drafted(path) as draft,
            tarfile.open(draft, "w:xz") as archive,
            TemporaryDirectory() as folder,
        ):
            archive.add(_ledger_copy(study_dir, Path(folder)), str(top / LEDGER))
            for file in sorted(study_dir.rglob("*.json")):
                if file.name in FILES_OF_NUMBERS:
                    archive.add(file, str(top / file.relative_to(study_dir)))
            weights = {f"{asset.name}{WEIGHTS}": asset / f"model{WEIGHTS}" for asset in assets}
            for name, file in (weights | {one.name: one for one in (study_dir / ASSETS).glob("*")}).items():
                archive.add(file, str(top / ASSETS / name))
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise InputError(what, where=str(path), remedy="Name another folder") from None
    except sqlite3.DatabaseError as error:
        raise failure_of(error, ledger_path(study_dir)) or error from None
    return path


def _ledger_copy(study_dir: Path, folder: Path) -> Path:
    """Copy the ledger as it is between two transactions, even while a driver writes it."""
    copy = folder / LEDGER
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
    try:
        origin = hash_file(archive)
        store.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".unpacked-", dir=store) as folder:
            name = _extract(archive, Path(folder), store)
            draft, final = Path(folder) / name, store / name
            if not final.exists():
                resolved = _checked_study(draft, archive).resolved
                (draft / f"{name}.yaml").write_text(json.dumps(resolved, indent=2, ensure_ascii=False))
                (draft / ORIGIN).write_text(origin)
                draft.rename(final)
            elif not (final / ORIGIN).is_file() or (final / ORIGIN).read_text() != origin:
                rule = f"{final} holds another state of this study, and nothing is overwritten"
                remedy = "Name that folder to read it, or unpack this one elsewhere: --store DIR"
                raise InputError("cannot be unpacked", where=str(archive), rule=rule, remedy=remedy)
    except OSError as error:
        what = f"cannot be unpacked into {store}: {error.strerror}"
        raise InputError(
            what, where=str(archive), remedy="Name an archive that can be read, and --store"
        ) from None
    return final


def _extract(archive: Path, folder: Path, store: Path) -> str:
    """Extract the archive's one study, unless the store has it; return its name."""
    name, num_bytes = "", 0
    try:
        with tarfile.open(archive) as files:
            for number, member in enumerate(files, 1):  # headers first: what is too large is never unpacked
                num_bytes += member.size
                if number > MOST_FILES or num_bytes > MOST_BYTES:
                    raise _refused(archive, f"more than {MOST_FILES:,} files or {MOST_BYTES >> 30} GiB")
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


def _belongs(parts: tuple[str, ...]) -> bool:
    """Whether a file is one that `write_archive` writes."""
    if len(parts) < 2 or not re.fullmatch(r"[a-z0-9][a-z0-9_-]*", parts[0]):
        return False
    is_weights = len(parts) == 3 and parts[1] == ASSETS and parts[2].endswith(WEIGHTS)
    return is_weights or parts[-1] in (*FILES_OF_NUMBERS, LEDGER)


def _checked_study(draft: Path, archive: Path) -> StudyRecord:
    """Return the unpacked study; refuse a ledger that holds programs or paths."""
    kinds, names = set[str](), list[str]()
    try:
        study = read_revisions(draft)[-1].study
        if (draft / LEDGER).is_file():
            with closing(open_study(draft)) as ledger, closing(sqlite3.connect(draft / LEDGER)) as as_it_came:
                names = [cell.identity for cell in LedgerQueries(ledger).cells()]
                kinds = {kind for (kind,) in as_it_came.execute("SELECT type FROM sqlite_master")}
    except (InputError, sqlite3.Error, ValueError) as error:
        raise _refused(archive, f"its files are damaged: {first_line(error)}") from None
    if study.name != draft.name or not kinds <= {"table", "index"} or not all(map(str.isalnum, names)):
        raise _refused(archive, "its ledger holds what no ledger of this study holds")
    return study


def _refused(archive: Path, why: str) -> InputError:
    remedy = "Ask for it again: rse-study archive STUDY writes one"
    return InputError("is not an archive of a study", where=str(archive), rule=why, remedy=remedy)
