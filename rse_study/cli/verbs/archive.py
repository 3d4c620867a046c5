"""The body of `archive`: a study as one file, to read and continue elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.assets.store import trained_assets
from rse_study.cli import parameters
from rse_study.cli.arguments.study import study_folder
from rse_study.cli.arguments.writable import require_file
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.next_step import command, suggest
from rse_study.cli.terminal.screen import stderr
from rse_study.data.location import cache_dir
from rse_study.results.archive import write_archive


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
    folder = study_folder(study, store)
    path = out or Path(f"{folder.resolve().name}.tar.xz")
    require_file(path, where="--out")
    with ActivityBars(stderr()) as bars, bars.waiting("packing"):
        write_archive(folder, path, trained_assets(folder, cache_dir()))
    print(path)
    suggest(command("report", str(path)))
