"""A study as one file, from which it is read and replayed elsewhere."""

import io
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from rse_study.errors import InputError
from rse_study.results.files.cell_file import FILE_NAME as CELL
from rse_study.results.files.evaluation_file import FILE_NAME as EVALUATIONS
from rse_study.results.files.item_file import FILE_NAME as ITEMS
from rse_study.results.files.result_file import FILE_NAME as RESULT
from rse_study.results.files.schema import ledger_path
from rse_study.results.reader import Reader

FILES_OF_NUMBERS = ("study.json", CELL, RESULT, EVALUATIONS, ITEMS)
"""Files beside the ledger that hold numbers; models, checkpoints and attacked texts are left out."""


def write_archive(study_dir: Path, path: Path) -> Path:
    """Write a study's ledger, results and resolved file to a .tar.xz; return its path.

    Models, checkpoints and attacked texts are left out: numbers alone may be passed on without asking anybody.
    """
    with Reader(study_dir) as reader:
        study = reader.study()
    top = Path(study.name)
    try:
        with tarfile.open(path, "w:xz") as archive, TemporaryDirectory() as folder:
            archive.add(_ledger_copy(study_dir, Path(folder)), str(top / ledger_path(study_dir).name))
            for file in sorted(study_dir.rglob("*.json")):
                if file.name in FILES_OF_NUMBERS:
                    archive.add(file, str(top / file.relative_to(study_dir)))
            _add_text(archive, f"{study.name}.yaml", json.dumps(study.resolved, indent=2, ensure_ascii=False))
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


def _add_text(archive: tarfile.TarFile, name: str, text: str) -> None:
    content = text.encode("utf-8")
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
