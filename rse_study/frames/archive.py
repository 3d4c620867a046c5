"""An archive of a study, opened as a study of this machine."""

from pathlib import Path

from rse_study.results.archive import unpack_archive
from rse_study.results.files.schema import ledger_path
from rse_study.search.rebuild import rebuild


def open_archive(archive: Path, store: Path) -> Path:
    """Unpack an archive unless it is there; rebuild a ledger that it lacks."""
    folder = unpack_archive(archive, store)
    if not ledger_path(folder).is_file():
        rebuild(folder)
    return folder
