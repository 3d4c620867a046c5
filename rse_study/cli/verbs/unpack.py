"""The body of `unpack`: an archive as a study of the store."""

from pathlib import Path

from rse_study.cli.terminal.next_step import command, suggest
from rse_study.errors import InputError
from rse_study.frames.archive import open_archive
from rse_study.results.files.schema import is_archive


def unpack_study(archive: Path, store: Path) -> None:
    """Unpack an archive into the store and print the path of its study's file."""
    if not is_archive(str(archive)):
        remedy = "Name the file that `rse-study archive STUDY` wrote, STUDY.tar.xz"
        raise InputError("is no archive", where=str(archive), remedy=remedy)
    folder = open_archive(archive, store)
    print(folder / f"{folder.name}.yaml")
    suggest(command("report", str(folder)))
