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
    variant: Annotated[
        Literal["orig", "senteval"], typer.Option(help="Which texts of the STS sets.")
    ] = "orig",
    threads: Threads = 0,
    device: DeviceName = "cpu",
    as_json: AsJson = False,
) -> None:
    """Score an encoder's vectors on every data set that is present.

    On STS, and on transfer, geometry and invariance if the suite includes them. For classifiers made from the
    encoder, use `attack` and `fine-tune`.
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
        list[str] | None, typer.Option(help="textfooler, pwws, bae ...; default: all that can run here.")
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=0, help="Number of inputs from the start of a set (AdvSTS: random); 0 = all.")
    ] = 0,
    max_queries: Annotated[int, typer.Option(min=1, help="Queries per input.")] = 5000,
    masked_lm: Annotated[
        str, typer.Option(help="Masked LM for bae and bert_attack: a folder, a hub name, or minilm-mlm.")
    ] = "",
    goal: Annotated[
        Literal["deviation", "drift", "maximise"],
        typer.Option(help="AdvSTS: move away from gold, away from the clean score, or as far as possible."),
    ] = "deviation",
    tau: Annotated[float, typer.Option(help="AdvSTS: smallest move that counts, on the gold scale.")] = 1.0,
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
    out: Annotated[Path, typer.Option(help="Folder for every outcome and attacks.html.")] = Path("attacks"),
) -> None:
    """Attack classifiers fine-tuned from an encoder, or its scores.

    For classifiers, shows how often an attack succeeds and after how many queries. With --on AdvSTS-B or AdvSICK-R,
    the encoder's similarity scores are attacked. Options that would have no effect are refused.
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
        list[str] | None, typer.Option(help="Tasks: ANLI ..., RTE ...; default: all in the data folder.")
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
    out: Annotated[Path | None, typer.Option(help="Folder for the rows as JSON (SUITE.json).")] = None,
) -> None:
    """Fine-tune a classifier for each task, and score it.

    Each classifier is fine-tuned from the encoder and scored on held-out texts.
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
            metavar="SOURCE", help="A cell's folder (written by `train`), or a study that has run."
        ),
    ],
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    trial: Annotated[
        str,
        typer.Option(help="A study's trial: `best`, a number, TRIAL/SEED, or an identity's first digits."),
    ] = "best",
    store: Store = DEFAULT_STORE,
) -> None:
    """Write a model that transformers and sentence-transformers load.

    The vectors stay the same.
    """
    from rse_study.cli.verbs.export import export_model

    export_model(source, directory, trial, store)
