"""The bodies of `archive` and `unpack`: a study as one file, and back."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments.paths import require_file, study_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import command, stderr, suggest
from rse_study.data import cache_dir
from rse_study.errors import InputError
from rse_study.results.archive import unpack_archive, write_archive
from rse_study.results.files.schema import is_archive


def archive_study(
    study: parameters.RanStudyArgument,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The archive; default: STUDY.tar.xz.")
    ] = None,
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Pack a study into one file that others can open and continue.

    Commands that take a study that has run take the file, too: report, check, notebook, replay. `unpack` makes it a
    study of the store, which `run` continues. It holds the ledger, the results and the weights of an encoder or
    generator that was trained here, but no models of cells and no texts.
    """
    from rse_study.assets.store import trained_assets  # imports torch, which `unpack` does without

    folder = study_folder(study, store)
    path = out or Path(f"{folder.resolve().name}.tar.xz")
    require_file(path, where="--out")
    with ActivityBars(stderr()) as bars, bars.waiting("packing"):
        write_archive(folder, path, trained_assets(folder, cache_dir()))
    print(path)
    suggest(command("report", str(path)))


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
