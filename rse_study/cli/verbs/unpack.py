"""The body of `unpack`: an archive as a study of the store."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.errors import InputError
from rse_study.results.archive import unpack_archive
from rse_study.results.files.schema import is_archive


def unpack_study(
    archive: Annotated[Path, typer.Argument(metavar="FILE", help="What `archive` wrote: STUDY.tar.xz.")],
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Unpack an archive into the store, and print its study's file.

    `run` continues the study in that file.
    """
    if not is_archive(str(archive)):
        remedy = "Name the file that `rse-study archive STUDY` wrote, STUDY.tar.xz"
        raise InputError("is no archive", where=str(archive), remedy=remedy)
    folder = unpack_archive(archive, store)
    print(folder / f"{folder.name}.yaml")
    suggest(command("report", str(folder)))
