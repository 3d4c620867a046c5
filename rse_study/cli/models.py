"""`evaluate` and `export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rse_study.cli.arguments import DEFAULT_STORE, Store
from rse_study.cli.places import require_folder

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A Hugging Face encoder (folder or name), `minilm`, or a cell's folder."
    ),
]


def evaluate(
    model: ModelArgument,
    suite: Annotated[
        Literal["sts", "fast", "full"],
        typer.Option(help="sts; fast: and transfer (5 folds), geometry; full: 10 folds, and invariance."),
    ] = "sts",
    data: Annotated[Path | None, typer.Option(help="Data folder; default: RSE_STUDY_DATA.")] = None,
    pooling: Annotated[
        str,
        typer.Option(
            help="cls, mean, first_last, prompt (needs a stored template); stored = as the model says."
        ),
    ] = "stored",
    variant: Annotated[Literal["orig", "senteval"], typer.Option(help="Text of the STS sets.")] = "orig",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0 = torch's default.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Evaluate a sentence encoder on every set present: STS in three aggregations, and what the suite adds."""
    from rse_study.cli.evaluate_here import evaluate_here

    evaluate_here(model, data, pooling, variant, suite, threads, as_json)


def export(
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A cell's folder (what `train` wrote), or a study that has run."
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    trial: Annotated[
        str,
        typer.Option(help="Of a study: `best`, a trial's number, TRIAL/SEED, or an identity's first digits."),
    ] = "best",
    store: Store = DEFAULT_STORE,
) -> None:
    """Write a model that transformers and sentence-transformers load, with the same vectors."""
    from rse_study.cli.found import cell_folder
    from rse_study.models.export import export as write
    from rse_study.models.loading import load_encoder
    from rse_study.models.stored import stored_pooling

    folder = cell_folder(source, trial, store)
    require_folder(directory, where="DIR")
    encoder, tokenizer = load_encoder(folder / "model")
    write(directory, encoder, tokenizer, stored_pooling(folder / "model").template)
    print(f"{directory} ({encoder.pooling} pooling, from {folder})")
