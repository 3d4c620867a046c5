"""`evaluate` and `export`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from rse_study.cli.arguments import DEFAULT_STORE, Store
from rse_study.cli.places import require_folder
from rse_study.cli.suite_options import Context, require_used, require_used_by_attacks

ModelArgument = Annotated[
    str,
    typer.Argument(
        metavar="MODEL", help="A Hugging Face encoder (folder or name), `minilm`, or a cell's folder."
    ),
]


def evaluate(
    context: Context,
    model: ModelArgument,
    suite: Annotated[
        Literal["sts", "fast", "full", "attacks", "nli", "glue"],
        typer.Option(
            help="sts; fast: and transfer (5 folds), geometry; full: 10 folds, invariance; attacks; nli; glue."
        ),
    ] = "sts",
    data: Annotated[Path | None, typer.Option(help="Data folder; default: RSE_STUDY_DATA.")] = None,
    pooling: Annotated[
        str,
        typer.Option(
            help="cls, mean, first_last, prompt (needs a stored template); stored = as the model says."
        ),
    ] = "stored",
    variant: Annotated[
        Literal["orig", "senteval"], typer.Option(help="sts, fast, full: text of the STS sets.")
    ] = "orig",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0 = torch's default.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    out: Annotated[
        Path | None,
        typer.Option(help="attacks (default ./attacks): every outcome; nli, glue: the rows as JSON."),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(help="attacks: mr (default), imdb, AdvSTS-B ...; nli: ANLI ...; glue: RTE ..."),
    ] = None,
    recipe: Annotated[
        list[str] | None,
        typer.Option(help="attacks: textfooler, pwws, bae ...; default: what can run."),
    ] = None,
    inputs: Annotated[
        int, typer.Option(min=0, help="attacks: the first so many of a set (AdvSTS: drawn); 0 = all.")
    ] = 0,
    max_queries: Annotated[int, typer.Option(min=1, help="attacks: queries an input.")] = 5000,
    seed: Annotated[int, typer.Option(min=0, help="attacks, nli, glue: of what they draw.")] = 0,
    epochs: Annotated[int, typer.Option(min=1, help="attacks, nli, glue: of the fine-tuning.")] = 3,
    lr: Annotated[float, typer.Option(help="attacks, nli, glue: of the fine-tuning.")] = 2e-5,
    max_length: Annotated[int, typer.Option(min=4, help="attacks, nli, glue: tokens a text.")] = 128,
    masked_lm: Annotated[
        str, typer.Option(help="attacks: bae and bert_attack need one; a folder, a hub name, or minilm-mlm.")
    ] = "",
    goal: Annotated[
        Literal["deviation", "drift", "maximise"],
        typer.Option(help="AdvSTS: away from gold, away from the clean score, or as far as it goes."),
    ] = "deviation",
    tau: Annotated[float, typer.Option(help="AdvSTS: how far that must be, on the gold scale.")] = 1.0,
    sides: Annotated[
        Literal["first", "second", "both"], typer.Option(help="AdvSTS: sentences that may be changed.")
    ] = "both",
) -> None:
    """Evaluate a sentence encoder on every set present: STS, transfer and geometry; under attack; after fine-tuning.

    Under attack are classifiers fine-tuned from it (how often they fall, after how many queries) or, as AdvSTS-B and
    AdvSICK-R, its similarity scores. nli and glue
    fine-tune one for each task and score it on texts it has not seen. An option that would decide nothing is refused.
    """
    given = require_used(context, suite)
    if suite in ("sts", "fast", "full"):
        from rse_study.cli.evaluate_here import evaluate_here

        evaluate_here(model, data, pooling, variant, suite, threads, as_json)
        return
    from rse_study.data.location import data_dir
    from rse_study.study.definition.reading import build
    from rse_study.training.classifier.spec import FineTuning

    folder = data or data_dir()
    tuning = build(FineTuning, {"epochs": epochs, "lr": lr, "max_length": max_length}, where="evaluate")
    from rse_study.downstream.settings import Attacks, Settings, Tasks

    if suite != "attacks":
        from rse_study.cli import tuned_here as tuned

        settings = Settings(Attacks(), tuning, Tasks(seed=seed))
        wanted = tuned.FineTuningRequest(suite, folder, on or [], settings, out)
        tuned.tuned_here(model, pooling, wanted, threads, as_json)
        return
    from rse_study.cli.attack_here import AttackRequest, attack_here, can_run
    from rse_study.evaluation.attacks.recipes import RECIPES

    chosen, kept = recipe or [name for name in RECIPES if can_run(name, masked_lm)], out or Path("attacks")
    require_used_by_attacks(given, on or ["mr"], chosen, goal)
    attacks = {"num_inputs": inputs, "max_queries": max_queries, "seed": seed, "masked_lm": masked_lm}
    scores = {"goal": goal, "tau": tau, "sides": sides}
    settings = Settings(build(Attacks, attacks | scores, where="evaluate"), tuning)
    asked = AttackRequest(folder, on or ["mr"], chosen, settings, kept)
    attack_here(model, pooling, asked, threads, as_json)


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
    from rse_study.cli.model_argument import cell_folder
    from rse_study.models.encoder_settings import stored_pooling
    from rse_study.models.export import export as write
    from rse_study.models.loading import load_encoder

    folder = cell_folder(source, trial, store)
    require_folder(directory, where="DIR")
    encoder, tokenizer = load_encoder(folder / "model")
    write(directory, encoder, tokenizer, stored_pooling(folder / "model").template)
    print(f"{directory} ({encoder.pooling} pooling, from {folder})")
