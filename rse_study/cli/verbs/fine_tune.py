"""The body of `fine-tune`: classifiers fine-tuned, scored on unseen texts."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

import pandas as pd
import typer

from rse_study.assets.victim import WEAK, VictimClassifier
from rse_study.cli import parameters
from rse_study.cli.arguments import require_cache, require_folder
from rse_study.cli.models import model_name
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, json_of, print_table, suggest
from rse_study.cli.verbs.evaluate import EncoderRequest
from rse_study.data import GLUE, cache_dir
from rse_study.data.hub import GLUE_LAYOUT
from rse_study.data.labelled import StsPairs
from rse_study.data.text_files import SET_DATA
from rse_study.downstream import FINE_TUNED, NLI, Attacks, Settings, Tasks
from rse_study.downstream.fine_tuned_tasks import PREFIX, FineTunedTask, GlueFineTuned, NliFineTuned
from rse_study.downstream.models import ModelFiles
from rse_study.errors import InputError, MissingFile
from rse_study.models.loading import load_encoder
from rse_study.registry import Registry
from rse_study.results.files.atomic import write_whole
from rse_study.results.records import EvaluationRow
from rse_study.study.definition.reading import build
from rse_study.training.classifier import FineTuning

_NLI_LAYOUT = "nli/snli/..., nli/mnli/..., nli/anli/R1/{train,dev,test}.jsonl (plain or .gz)"


def fine_tune_model(
    model: parameters.ModelArgument,
    suite: Annotated[
        Literal["nli", "glue"], typer.Option(help="nli: SNLI, MNLI, ANLI, FEVER; glue: GLUE's.")
    ],
    on: Annotated[
        list[str] | None, typer.Option(help="Tasks: ANLI ..., RTE ...; default: all in the data folder.")
    ] = None,
    seed: parameters.TuningSeed = 0,
    epochs: parameters.Epochs = 3,
    lr: parameters.LearningRate = 2e-5,
    max_length: parameters.MaxLength = 128,
    data: parameters.DataFolder = None,
    pooling: parameters.PoolingOption = "stored",
    threads: parameters.Threads = 0,
    device: parameters.DeviceName = "cpu",
    as_json: parameters.AsJson = False,
    out: Annotated[Path | None, typer.Option(help="Folder for the rows as JSON (SUITE.json).")] = None,
) -> None:
    """Fine-tune a classifier for each task, and score it.

    Each classifier is fine-tuned from the encoder and scored on held-out texts.
    """
    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    settings = Settings(Attacks(), build(FineTuning, tuning, where="fine-tune"), Tasks(seed=seed))
    require_cache()
    if out is not None:
        require_folder(out, where="--out")
    folder, absent = model_name(encoder.model), dict[str, str]()
    evaluations = _tasks(suite, on or (), encoder.data_dir, settings, absent)
    kind = load_encoder(folder, encoder.pooling)[0].pooling
    assets = cache_dir() / "assets"
    weights = ModelFiles(folder, kind, assets, assets, device=encoder.device)
    encoder.set_threads()
    with ActivityBars(encoder.screen) as bars:
        rows = [row for one in evaluations for row in _rows(one, weights, encoder.model, bars)]
    said = {
        "model": encoder.model,
        "pooling": weights.pooling_of_classifiers,
        "suite": suite,
        "absent": absent,
    }
    content = json_of({**said, "rows": [row.model_dump(mode="json") for row in rows]})
    if out is not None:
        write_whole(out / f"{suite}.json", content + "\n")
    if encoder.as_json:
        print(content, flush=True)
        return
    print_table(_table(rows), "--json", droppable=("skipped", "examples", "weak"))
    announce(*(f"{name}: {reason}" for name, reason in absent.items()))
    if out is None:
        suggest(command("fine-tune", encoder.model, "--suite", suite, "--out", "scores"))


def _tasks(
    suite: str, on: Sequence[str], data_dir: Path, settings: Settings, absent: dict[str, str]
) -> list[FineTunedTask]:
    """Read the tasks that are asked for, else all in the data folder.

    Of the latter, those without files go to `absent`, with the reason; nothing is fetched.
    """
    known = Registry(f"{suite} task", dict.fromkeys(NLI if suite == "nli" else GLUE, None))
    for name in on:
        known.get(name, where="--on")
    are_here = suite == "nli" or (data_dir / settings.tasks.glue).is_dir()
    found = list[FineTunedTask]()
    for name in on or (known if are_here else ()):
        try:
            found.append(_read(name, suite, data_dir, settings))
        except MissingFile as problem:
            if on:
                raise
            absent[name] = str(problem)
    if not found:
        layout = _NLI_LAYOUT if suite == "nli" else f"{settings.tasks.glue}/{GLUE_LAYOUT}"
        hub = "" if suite == "nli" else ". A task named by --on is asked of the hub"
        rule, remedy = f"the layout is {layout} in the data folder", f"{SET_DATA}{hub}"
        raise InputError(f"no {suite} task is here", where=str(data_dir), rule=rule, remedy=remedy)
    absent |= {path: "not in the data folder" for one in found for path in one.lacking}
    return found


def _read(name: str, suite: str, data_dir: Path, settings: Settings) -> FineTunedTask:
    if suite == "nli":
        return NliFineTuned.read(f"{name}/{FINE_TUNED}", data_dir, settings)
    return GlueFineTuned.read(f"{PREFIX}{name}/{FINE_TUNED}", data_dir, settings)


def _rows(one: FineTunedTask, weights: ModelFiles, model: str, bars: ActivityBars) -> list[EvaluationRow]:
    made = one.classifier(weights, partial(bars.advanced, f"{one.task}: fine-tuning steps"))
    bars.message(f"{one.task}: {_described(one, made)}")
    with bars.waiting(f"{one.task}: scoring"):
        return one.rows(made, weights, model)


def _described(one: FineTunedTask, made: VictimClassifier) -> str:
    texts = f"{len(one.training) - made.num_removed} texts of {one.training.name} {one.training.split}"
    removed = f", {made.num_removed} left out that are scored" if made.num_removed else ""
    if isinstance(one.training, StsPairs):
        return f"{texts}{removed}; Spearman {made.dev_accuracy:.3f} on a held-out share"
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    return f"{texts}{removed}; accuracy {made.dev_accuracy:.1%} on a held-out share{weak}"


def _table(rows: Sequence[EvaluationRow]) -> pd.DataFrame:
    shown = [
        {
            "task": row.task,
            "split": row.split,
            "metric": row.aggregation.removesuffix(row.split).strip(),
            "value": f"{row.value:.2f}",
            "examples": str(row.num_examples),
            "skipped": str(row.num_skipped),
            "weak": "weak" if row.degenerate else "",
        }
        for row in rows
    ]
    return pd.DataFrame(shown)
