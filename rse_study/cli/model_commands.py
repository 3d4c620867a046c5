"""Signature and help of the commands on a model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rse_study.cli.arguments.completion import DEFAULT_STORE, Context
from rse_study.cli.arguments.declarations import (
    AsJson,
    DataFolder,
    DeviceName,
    Epochs,
    LearningRate,
    MaxLength,
    ModelArgument,
    PoolingOption,
    Store,
    SuiteOption,
    Threads,
    TuningSeed,
)


def evaluate(
    model: ModelArgument,
    suite: SuiteOption = "sts",
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    variant: Annotated[Literal["orig", "senteval"], typer.Option(help="Text of the STS sets.")] = "orig",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
) -> None:
    """Score an encoder's vectors on every data set that is present.

    On STS, and on transfer, geometry and invariance where the suite has them. `attack` and `fine-tune` are for
    classifiers made from it.
    """
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest
    from rse_study.cli.verbs.evaluate.frozen import evaluate_frozen

    evaluate_frozen(EncoderRequest(model, pooling, data, threads, device, as_json), suite, variant)


def attack(
    context: Context,
    model: ModelArgument,
    # What is attacked, and how.
    on: Annotated[
        list[str] | None, typer.Option(help="Sets: mr (default), imdb, sst2 ...; AdvSTS-B, AdvSICK-R.")
    ] = None,
    recipe: Annotated[
        list[str] | None, typer.Option(help="textfooler, pwws, bae ...; default: what can run.")
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=0, help="The first so many of a set (AdvSTS: drawn); 0 = all.")
    ] = 0,
    max_queries: Annotated[int, typer.Option(min=1, help="Queries an input.")] = 5000,
    masked_lm: Annotated[
        str, typer.Option(help="bae and bert_attack need one; a folder, a hub name, or minilm-mlm.")
    ] = "",
    goal: Annotated[
        Literal["deviation", "drift", "maximise"],
        typer.Option(help="AdvSTS: away from gold, away from the clean score, or as far as it goes."),
    ] = "deviation",
    tau: Annotated[float, typer.Option(help="AdvSTS: how far that must be, on the gold scale.")] = 1.0,
    sides: Annotated[
        Literal["first", "second", "both"], typer.Option(help="AdvSTS: sentences that may be changed.")
    ] = "both",
    # How the victims are fine-tuned.
    seed: TuningSeed = 0,
    epochs: Epochs = 3,
    lr: LearningRate = 2e-5,
    max_length: MaxLength = 128,
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
    out: Annotated[Path, typer.Option(help="Folder of every outcome and of attacks.html.")] = Path("attacks"),
) -> None:
    """Attack classifiers fine-tuned from an encoder, or its scores.

    Of classifiers: how often they fall, after how many queries. With --on AdvSTS-B or AdvSICK-R the encoder's scores of
    similarity are attacked. An option that would decide nothing is refused.
    """
    from rse_study.cli.verbs.evaluate.attack import attack_model
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest

    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    attacks = {"num_inputs": inputs, "max_queries": max_queries, "masked_lm": masked_lm, "seed": seed}
    similarity = {"goal": goal, "tau": tau, "sides": sides}
    attack_model(context, encoder, on or ["mr"], recipe or (), out, {**attacks, **similarity}, tuning)


def fine_tune(
    model: ModelArgument,
    suite: Annotated[
        Literal["nli", "glue"], typer.Option(help="nli: SNLI, MNLI, ANLI, FEVER; glue: GLUE's.")
    ],
    on: Annotated[
        list[str] | None, typer.Option(help="Tasks: ANLI ..., RTE ...; default: what is in the data folder.")
    ] = None,
    seed: TuningSeed = 0,
    epochs: Epochs = 3,
    lr: LearningRate = 2e-5,
    max_length: MaxLength = 128,
    data: DataFolder = None,
    pooling: PoolingOption = "stored",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder of the rows as JSON, SUITE.json.")] = None,
) -> None:
    """Fine-tune a classifier for each task, and score it.

    Each is fine-tuned from the encoder and scored on texts it has not seen.
    """
    from rse_study.cli.verbs.evaluate.encoder import EncoderRequest
    from rse_study.cli.verbs.evaluate.fine_tune import fine_tune_model

    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    fine_tune_model(encoder, suite, on or (), out, seed, tuning)


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
    """Write a model that transformers and sentence-transformers load.

    The vectors stay the same.
    """
    from rse_study.cli.verbs.export import export_model

    export_model(source, directory, trial, store)
