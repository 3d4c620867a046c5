"""The body of `evaluate`: an encoder loaded, and its frozen vectors scored."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
import torch
import typer
from rich.console import Console

from rse_study.activity import ProgressCallback
from rse_study.cli import parameters
from rse_study.cli.arguments import require_device, require_folder
from rse_study.cli.models import model_name
from rse_study.cli.terminal import screen
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.data import data_dir
from rse_study.data.labelled import StsPairs, Variant
from rse_study.data.readers import read_sts
from rse_study.downstream import all_evaluations, is_of_vectors, read_evaluation
from rse_study.downstream.models import ScoredModel, score_model
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation import MTEB, beyond_similarity
from rse_study.evaluation.evaluations import CachedEncoder, Embed
from rse_study.evaluation.sts import AGGREGATIONS, SEVEN, average, evaluate_sts
from rse_study.evaluation.transfer import averages
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel
from rse_study.models.loading import load_encoder
from rse_study.models.model_files import Recorded
from rse_study.models.pooling import KINDS
from rse_study.registry import did_you_mean
from rse_study.results.records import EvaluationRow


@dataclass(frozen=True)
class EncoderRequest:
    """An encoder to score, with the options given on the command line."""

    model: str
    pooling: str
    """cls, mean, first_last, prompt, pooler, convolved; `stored`: as the model says"""
    data: Path | None
    threads: int
    """CPU threads; 0: torch's default"""
    device: str
    as_json: bool

    def __post_init__(self) -> None:
        require_device(self.device)

    @property
    def data_dir(self) -> Path:
        return self.data or data_dir()

    @property
    def screen(self) -> Console:
        """The console of progress: stdout is left to JSON."""
        return screen.stderr() if self.as_json else screen.stdout()

    def set_threads(self) -> None:
        if self.threads:
            torch.set_num_threads(self.threads)


def embedder_of(
    request: EncoderRequest, name: str, on_progress: ProgressCallback = lambda done, total: None
) -> Embedder | WholeModel:
    """Load an encoder, by folder or hub name, with all that its authors recorded."""
    recorded = Recorded(name)
    if request.pooling == "stored" and recorded.is_whole:
        return WholeModel(name, request.device, on_progress=on_progress)
    encoder, tokenizer = load_encoder(name, request.pooling)
    template = recorded.ours.template if encoder.pooling == "prompt" and recorded.ours else ""
    stored = recorded.ours.pooling if recorded.ours else ""
    if encoder.pooling in {"prompt", "convolved"} - {stored}:
        rule = "it reads a template, or convolutions, and none is stored beside these weights"
        remedy = "Use cls, mean or first_last, or a model trained here with this pooling"
        raise InputError(f"pooling {encoder.pooling!r}", where=request.model, rule=rule, remedy=remedy)
    return Embedder(encoder.to(request.device), tokenizer, template, on_progress=on_progress)


SPLITS = (*((name, "test") for name in SEVEN), ("STS-B", "dev"))


def evaluate_frozen(
    model: parameters.ModelArgument,
    suite: parameters.SuiteOption = "sts",
    on: parameters.EvaluationNames = None,
    data: parameters.DataFolder = None,
    pooling: parameters.PoolingOption = "stored",
    variant: Annotated[
        Literal["orig", "senteval"], typer.Option(help="Which texts of the STS sets.")
    ] = "orig",
    threads: parameters.Threads = 0,
    device: parameters.DeviceName = "cpu",
    as_json: parameters.AsJson = False,
    mteb_results: parameters.MtebResults = None,
) -> None:
    """Score an encoder's vectors on every data set that is present.

    On STS, and on transfer, geometry and invariance if the suite includes them; with --on, on the evaluations
    named there alone. For classifiers made from the encoder, use `attack` and `fine-tune`.
    """
    request = EncoderRequest(model, pooling, data, threads, device, as_json)
    require_suite(suite, model)
    if on and variant != "orig":
        raise InputError(f"--variant {variant}", rule="--on says what is scored", remedy="Drop one of them")
    name = model_name(model)
    named = _named(on or [], suite, request.data_dir, mteb_results)
    tasks, absent = ([], {}) if on else _require_tasks(request.data_dir, variant)
    request.set_threads()
    with ActivityBars(request.screen) as bars:
        embedder = embedder_of(request, name, partial(bars.advanced, "sentences encoded"))
        embed, kind = CachedEncoder(embedder), embedder.pooling
        scores = evaluate_sts(embed, tasks)
        if not as_json and not on:
            read = f"{kind} pooling" if kind in KINDS else f"read by {kind}"
            bars.message(f"{model}, {read}, {variant} text: Spearman x100")
            if getattr(embedder, "leaves_pooler_out", False):
                bars.message("its own pooler is left out; --pooling pooler reads it, as SimCSE's `cls` does")
            screen.print_table(table_of(scores, absent), "--json", console=bars.console)
        rows = list(_others(embed, named, request, absent, bars))
    accuracies = {row.task: row.value for row in rows if row.aggregation == "accuracy"}
    means = averages({} if on else accuracies)
    if not as_json:
        screen.announce(*(f"{average_name}: {value:.2f}" for average_name, value in means.items()))
        wider = ("attack", model) if suite == "full" else ("evaluate", model, "--suite", "full")
        screen.suggest(screen.command(*wider))
        return
    what = {"variant": "" if on else variant, "suite": "" if on else suite}
    content = {"model": model, "pooling": kind, **what, "absent": absent}
    similarities, others = (
        [_without_subject(row) for row in scores],
        [row.model_dump(mode="json") for row in rows],
    )
    print(screen.json_of({**content, "scores": similarities, "rows": others, "averages": means}), flush=True)


def require_suite(suite: str, model: str) -> None:
    """Raise InputError unless a suite scores frozen vectors; name its command."""
    if suite in parameters.SUITES:
        return
    commands = {
        "attacks": ("attack", model),
        **{tasks: ("fine-tune", model, "--suite", tasks) for tasks in ("nli", "glue")},
    }
    elsewhere = suite in commands
    remedy = (
        f"Use {screen.command(*commands[suite])}" if elsewhere else did_you_mean(suite, parameters.SUITES)
    )
    rule = f"suites of frozen vectors are {', '.join(parameters.SUITES)}"
    raise InputError(f"no suite {suite!r}", where="--suite", rule=rule, remedy=remedy)


def _named(names: Sequence[str], suite: str, data_dir: Path, results: Path | None) -> dict[str, Any]:
    """Read the evaluations of --on; without any, name the suite's, which may be absent."""
    if results and not any(name.startswith(MTEB) for name in names):
        raise InputError("--mteb-results", rule="--on names none of MTEB's tasks")
    if results:
        require_folder(results, where="--mteb-results")
    if not names:
        return dict.fromkeys(beyond_similarity(suite))
    if suite != "sts":
        raise InputError(f"--suite {suite}", rule="--on says what is scored", remedy="Drop one of them")
    of_weights = [name for name in names if name in all_evaluations() and not is_of_vectors(name)]
    if of_weights:
        rule, remedy = "it needs an encoder's weights", "Use rse-study attack or fine-tune"
        raise InputError(f"--on {of_weights[0]}", rule=rule, remedy=remedy)
    found: dict[str, Any] = {name: read_evaluation(name, data_dir) for name in names}
    of_mteb = {name: replace(found[name], results=results) for name in names if name.startswith(MTEB)}
    return found | of_mteb


def _others(
    embed: Embed, named: dict[str, Any], request: EncoderRequest, absent: dict[str, str], bars: ActivityBars
) -> Iterator[EvaluationRow]:
    """Yield and print rows beyond STS as they come; name what the suite lacks."""
    for number, (name, read) in enumerate(named.items()):
        bars.advanced("evaluations", number, len(named), name)
        begun, rows = time.monotonic(), list[EvaluationRow]()
        try:
            evaluation = read or read_evaluation(name, request.data_dir)
            rows = score_model(ScoredModel(request.model, embed), [evaluation])
            told = f"{_describe(rows)}  [{time.monotonic() - begun:.0f} s]"
        except MissingFile as problem:
            absent[name], told = str(problem), "absent"
        if not request.as_json:
            bars.message(f"{name}: {told}")
        yield from rows


def _describe(rows: Sequence[EvaluationRow]) -> str:
    return ", ".join(
        f"{row.aggregation} {row.value:.4f}"
        if row.preset == "geometry"
        else screen.marked(f"{row.aggregation} {row.value:.2f}", row.degenerate)
        for row in rows
    )


def _without_subject(row: EvaluationRow) -> dict[str, Any]:
    """Return a similarity as JSON; the model stands above all of them."""
    names = ("task", "split", "aggregation", "num_examples", "degenerate", "fingerprint")
    content = row.model_dump(mode="json", include={*names, "value"})
    return {"spearman" if name == "value" else name: value for name, value in content.items()}


def find_tasks(folder: Path, variant: Variant) -> tuple[list[StsPairs], dict[str, str]]:
    """Read the STS sets in the data folder, and describe what others lack."""
    tasks, absent = [], {}
    for name, split in SPLITS:
        try:
            tasks.append(read_sts(name, split, folder, (variant,)))
        except MissingFile as error:
            absent[f"{name} {split}"] = f"lacks {error.part}" if error.part else _absence(name, split, folder)
    return tasks, absent


def _require_tasks(folder: Path, variant: Variant) -> tuple[list[StsPairs], dict[str, str]]:
    tasks, absent = find_tasks(folder, variant)
    if not tasks:
        remedy = "Set RSE_STUDY_DATA or --data, or fetch sets: rse-study data list"
        raise InputError("no STS set is here", where=str(folder), remedy=remedy)
    return tasks, absent


def _absence(name: str, split: str, folder: Path) -> str:
    """Describe an absent set, and how to read the other copy where that one is here."""
    try:
        return f"missing; with --variant {read_sts(name, split, folder).variant} it is here"
    except MissingFile:
        return "absent"


def table_of(scores: Sequence[EvaluationRow], absent: Mapping[str, str]) -> pd.DataFrame:
    """Return one row a set, then the papers' average and what is absent."""
    rows: dict[str, dict[str, str]] = {}
    for score in scores:
        row = rows.setdefault(f"{score.task} {score.split}", {"pairs": str(score.num_examples)})
        row[score.aggregation] = screen.marked(f"{score.value:.2f}", score.degenerate)
    rows |= {name: {"pairs": missing} for name, missing in absent.items()}
    present = {score.task for score in scores if score.split == "test"}
    if present >= set(SEVEN):
        rows["average of the seven"] = {name: f"{average(scores, name):.2f}" for name in AGGREGATIONS}
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=[*AGGREGATIONS, "pairs"]).fillna("")
    return frame.rename_axis("set").reset_index()
