"""The body of `export`: a cell's model in a folder that other libraries load."""

from pathlib import Path
from typing import Annotated

import typer

from rse_study.cli import parameters
from rse_study.cli.models import cell_folder
from rse_study.cli.arguments import require_folder
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import command, stderr, suggest
from rse_study.models.export import export
from rse_study.models.loading import load_encoder
from rse_study.results.export import card_of_cell
from rse_study.results.files.schema import MODEL_FOLDER


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
