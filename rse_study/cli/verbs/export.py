"""What is handed on: archives of studies, and models of cells."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.arguments import require_file, require_folder, study_folder
from rse_study.cli.models import cell_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import command, stderr, suggest
from rse_study.data.location import cache_dir
from rse_study.errors import InputError
from rse_study.models.export import export
from rse_study.models.loading import load_encoder
from rse_study.results.archive import unpack_archive, write_archive
from rse_study.results.export import card_of_cell
from rse_study.results.files.schema import MODEL_FOLDER, is_archive


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
    from rse_study.assets.fingerprint import trained_assets  # imports torch, which `unpack` does without

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


def export_model(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A cell's folder (written by `train`), or a study that has run."
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    trial: Annotated[
        str,
        typer.Option(help="A study's trial: `best`, a number, TRIAL/SEED, or an identity's first digits."),
    ] = "best",
    store: parameters.Store = parameters.DEFAULT_STORE,
) -> None:
    """Write a model that transformers and sentence-transformers load.

    The vectors stay the same.
    """
    folder = cell_folder(source, trial, store)
    require_folder(directory, where="DIR")
    with ActivityBars(stderr()) as bars, bars.waiting("reading and writing the model"):
        encoder, tokenizer = load_encoder(folder / MODEL_FOLDER)
        export(directory, encoder, tokenizer)
        with (directory / "README.md").open("a", encoding="utf-8") as card:
            card.write(card_of_cell(folder))
    print(f"{directory} ({encoder.pooling} pooling, from {folder})")
    suggest(command("evaluate", directory))
