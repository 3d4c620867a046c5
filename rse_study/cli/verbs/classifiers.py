"""The bodies of `attack` and `fine-tune`: classifiers made from an encoder."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, cast

import pandas as pd
import typer

from analysis.attacks import summary_table, weak_note, write_attacks
from rse_study.activity import ActivityCallback
from rse_study.assets.attack_resources import needs_masked_lm
from rse_study.assets.tiny import has_minilm
from rse_study.assets.victim import WEAK, VictimClassifier
from rse_study.cli import parameters
from rse_study.cli.arguments import require_cache, require_folder
from rse_study.cli.models import model_name
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import announce, command, json_of, print_table, say, suggest
from rse_study.cli.verbs.evaluate import EncoderRequest, embedder_of
from rse_study.data import GLUE, cache_dir
from rse_study.data.hub import GLUE_LAYOUT
from rse_study.data.labelled import StsPairs
from rse_study.data.text_files import SET_DATA
from rse_study.downstream import ADVERSARIAL_STS, ATTACKED, FINE_TUNED, NLI, Attacks, Settings, Tasks
from rse_study.downstream.attacked_classifier import PREFIX as ATTACKED_PREFIX
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.downstream.attacked_similarity import AttackedSimilarity
from rse_study.downstream.fine_tuned_tasks import PREFIX as TUNED_PREFIX
from rse_study.downstream.fine_tuned_tasks import FineTunedTask, GlueFineTuned, NliFineTuned
from rse_study.downstream.models import ModelFiles
from rse_study.errors import InputError, MissingFile
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES, recipes_with
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel
from rse_study.models.loading import load_encoder
from rse_study.models.pooling import PoolingKind
from rse_study.registry import Registry
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.attack_file import SummaryRow, summary_frame
from rse_study.results.records import EvaluationRow
from rse_study.study.definition.reading import build
from rse_study.training.classifier import FineTuning

LEAST_IMPORTANT = ("skipped", "queries", "inputs", "words changed", "goal", "drift")
"""columns in the order in which a narrow terminal leaves them out"""
AttackEvaluation = AttackedClassifier | AttackedSimilarity
Given = Mapping[str, str]
"""options that a user wrote: parameter -> --option"""


def attack_model(
    context: parameters.Context,
    model: parameters.ModelArgument,
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
    seed: parameters.TuningSeed = 0,
    epochs: parameters.Epochs = 3,
    lr: parameters.LearningRate = 2e-5,
    max_length: parameters.MaxLength = 128,
    data: parameters.DataFolder = None,
    pooling: parameters.PoolingOption = "stored",
    threads: parameters.Threads = 0,
    device: parameters.DeviceName = "cpu",
    as_json: parameters.AsJson = False,
    out: Annotated[Path, typer.Option(help="Folder for every outcome and attacks.html.")] = Path("attacks"),
) -> None:
    """Attack classifiers fine-tuned from an encoder, or its scores.

    For classifiers, shows how often an attack succeeds and after how many queries. With --on AdvSTS-B or AdvSICK-R,
    the encoder's similarity scores are attacked. Options that would have no effect are refused.
    """
    encoder = EncoderRequest(model, pooling, data, threads, device, as_json)
    tuning = {"epochs": epochs, "lr": lr, "max_length": max_length}
    attacks = {"num_inputs": inputs, "max_queries": max_queries, "masked_lm": masked_lm, "seed": seed}
    similarity = {"goal": goal, "tau": tau, "sides": sides}
    trained = build(FineTuning, tuning, where="attack")
    sets, chosen = on or ["mr"], recipe or [name for name in RECIPES if can_run(name, masked_lm)]
    require_used(given_options(context), sets, chosen, goal)
    settings = Settings(build(Attacks, attacks | similarity, where="attack"), trained)
    require_cache()
    require_folder(out, where="--out")
    _attack(encoder, [_read_attack(*one, encoder.data_dir, settings) for one in product(sets, chosen)], out)


def _attack(encoder: EncoderRequest, attacks: Sequence[AttackEvaluation], out: Path) -> None:
    encoder.set_threads()
    folder = model_name(encoder.model)
    embed = embedder_of(encoder, folder)
    assets, device = cache_dir() / "assets", encoder.device
    # Of a model that no fine-tuning can start from, these are its modules: `load_encoder` names the first of them.
    pooling = cast(PoolingKind, embed.pooling)
    weights = ModelFiles(folder, pooling, assets, out, device=device, template=embed.template)
    with ActivityBars(encoder.screen) as bars:
        rows = list(_attacked(attacks, weights, embed, bars))
        with bars.waiting("writing the report"):
            report = write_attacks(out).resolve()
    if encoder.as_json:
        print(json_of([row.model_dump(mode="json") for row in rows]), flush=True)
    else:
        summary = summary_frame(rows)
        table = summary_table(summary).drop(columns=["95%", "what it is"])
        shown = table.loc[:, (table != "").any()]
        print_table(shown, f"--json, or in {report.name}", droppable=LEAST_IMPORTANT)
        if weak := weak_note(summary):
            announce(weak)
        announce(f"every input: {out.resolve()}/*.jsonl")
    say(f"report: {report}", encoder.screen)
    if not encoder.as_json:
        suggest(f"open {report.name} in a browser", command("report", out))


def can_run(recipe: str, masked_lm: str) -> bool:
    """Whether the models that a recipe needs are there; such recipes are the default."""
    if needs_masked_lm(recipe) and not masked_lm:
        return False
    return Resource.SENTENCE_SIMILARITY not in RECIPES.get(recipe).needs or has_minilm()


def _read_attack(name: str, recipe: str, data_dir: Path, settings: Settings) -> AttackEvaluation:
    RECIPES.get(recipe, where="--recipe")
    Registry("attack set", dict.fromkeys((*ATTACKED, *ADVERSARIAL_STS))).get(name, where="--on")
    if needs_masked_lm(recipe) and not settings.attacks.masked_lm:
        rule = "its candidates are a masked language model's"
        remedy = "Give --masked-lm: a folder, or minilm-mlm"
        raise InputError("no masked language model", where=f"--recipe {recipe}", rule=rule, remedy=remedy)
    if name in ADVERSARIAL_STS:
        return AttackedSimilarity.read(f"{name}/{recipe}", data_dir, settings)
    return AttackedClassifier.read(f"{ATTACKED_PREFIX}{name}/{recipe}", data_dir, settings)


def _attacked(
    attacks: Sequence[AttackEvaluation],
    weights: ModelFiles,
    embed: Embedder | WholeModel,
    callback: ActivityCallback,
) -> Iterator[SummaryRow]:
    victims: dict[str, VictimClassifier] = {}
    for one in attacks:
        on_progress = partial(callback.advanced, f"{one.name}: inputs attacked")
        if isinstance(one, AttackedSimilarity):
            row, _ = one.attacked(embed, weights, on_progress)
            if row.weak:
                callback.message(f"{one.name}: weak: the scores of clean pairs rank nothing")
            yield row
            continue
        if one.set not in victims:
            victims[one.set] = _victim(one, weights, callback)
        yield one.attacked(victims[one.set], weights.kept, on_progress, device=weights.device)[0]


def _victim(one: AttackedClassifier, weights: ModelFiles, callback: ActivityCallback) -> VictimClassifier:
    name = f"victim of {one.set}"
    made = one.victim(weights, partial(callback.advanced, f"{name}: fine-tuning steps"))
    training = f"{one.training.name} without {made.num_removed} attacked texts"
    callback.message(f"{name}: {training}, dev {_accuracy(made)}")
    return made


def _accuracy(made: VictimClassifier, on: str = "") -> str:
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    return f"accuracy {made.dev_accuracy:.1%}{on}{weak}"


def given_options(context: parameters.Context) -> Given:
    """Return the options that were written, even with their default values."""
    options = {one.name or "": one.opts[0] for one in context.command.params if one.opts[0].startswith("-")}
    sources = {name: context.get_parameter_source(name) for name in options}
    written = {name for name, source in sources.items() if source is not None and source.name != "DEFAULT"}
    return {name: option for name, option in options.items() if name in written}


def require_used(given: Given, sets: Sequence[str], recipes: Sequence[str], goal: str) -> None:
    """Raise InputError where an option was given that none of these attacks uses."""
    for options, where, rule, remedy in _unused(sets, recipes, goal):
        flags = ", ".join(given[name] for name in options if name in given)
        if flags:
            what, remedy = f"{flags} would have no effect", f"Leave it out, or {remedy}"
            raise InputError(what, where=where, rule=rule, remedy=remedy)


def _unused(
    sets: Sequence[str], recipes: Sequence[str], goal: str
) -> Iterator[tuple[Iterable[str], str, str, str]]:
    """Yield (options, where, rule, remedy); unknown names are refused where they are looked up."""
    on, scores = f"--on {', '.join(sets)}", " or ".join(ADVERSARIAL_STS)
    if {*sets} <= {*ATTACKED}:
        yield ("goal", "tau", "sides"), on, "classifiers are attacked, not similarity", f"add --on {scores}"
    if {*sets} <= {*ADVERSARIAL_STS}:
        rule = "similarity itself is attacked, nothing is fine-tuned"
        yield ("epochs", "lr", "max_length"), on, rule, "add a classifier's set: --on mr"
    if goal == "maximise":
        yield ("tau",), "--goal maximise", "there is no distance to reach", "choose another goal"
    asking = recipes_with(Resource.MASKED_LM)
    if {*recipes} <= {*RECIPES} - {*asking}:
        rule, remedy = "no masked language model is asked", f"add --recipe {' or '.join(asking)}"
        yield ("masked_lm",), f"--recipe {', '.join(recipes)}", rule, remedy


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
    _fine_tune(encoder, suite, on or (), settings, out)


def _fine_tune(
    encoder: EncoderRequest, suite: str, on: Sequence[str], settings: Settings, out: Path | None
) -> None:
    folder, absent = model_name(encoder.model), dict[str, str]()
    evaluations = _tasks(suite, on, encoder.data_dir, settings, absent)
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
            found.append(_read_task(name, suite, data_dir, settings))
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


def _read_task(name: str, suite: str, data_dir: Path, settings: Settings) -> FineTunedTask:
    if suite == "nli":
        return NliFineTuned.read(f"{name}/{FINE_TUNED}", data_dir, settings)
    return GlueFineTuned.read(f"{TUNED_PREFIX}{name}/{FINE_TUNED}", data_dir, settings)


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
    return f"{texts}{removed}; {_accuracy(made, on=' on a held-out share')}"


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
