"""The body of `attack`: classifiers or similarity scores under attack."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Literal, cast

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
from rse_study.data import cache_dir
from rse_study.downstream import ADVERSARIAL_STS, ATTACKED, Attacks, Settings
from rse_study.downstream.attacked_classifier import PREFIX, AttackedClassifier
from rse_study.downstream.attacked_similarity import AttackedSimilarity
from rse_study.downstream.models import ModelFiles
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES, recipes_with
from rse_study.models.embedder import Embedder
from rse_study.models.export import WholeModel
from rse_study.models.pooling import PoolingKind
from rse_study.registry import Registry
from rse_study.results.files.attack_file import SummaryRow, summary_frame
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
    _attack(encoder, [_read(*one, encoder.data_dir, settings) for one in product(sets, chosen)], out)


def _attack(encoder: EncoderRequest, attacks: Sequence[AttackEvaluation], out: Path) -> None:
    encoder.set_threads()
    folder = model_name(encoder.model)
    embed = embedder_of(encoder, folder)
    assets, device = cache_dir() / "assets", encoder.device
    # Of a model that no fine-tuning can start from, these are its modules: `load_encoder` names the first of them.
    pooling = cast(PoolingKind, embed.pooling)
    weights = ModelFiles(folder, pooling, assets, out, device=device, template=embed.template)
    with ActivityBars(encoder.screen) as bars:
        rows = list(_rows(attacks, weights, embed, bars))
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


def _read(name: str, recipe: str, data_dir: Path, settings: Settings) -> AttackEvaluation:
    RECIPES.get(recipe, where="--recipe")
    Registry("attack set", dict.fromkeys((*ATTACKED, *ADVERSARIAL_STS))).get(name, where="--on")
    if needs_masked_lm(recipe) and not settings.attacks.masked_lm:
        rule = "its candidates are a masked language model's"
        remedy = "Give --masked-lm: a folder, or minilm-mlm"
        raise InputError("no masked language model", where=f"--recipe {recipe}", rule=rule, remedy=remedy)
    if name in ADVERSARIAL_STS:
        return AttackedSimilarity.read(f"{name}/{recipe}", data_dir, settings)
    return AttackedClassifier.read(f"{PREFIX}{name}/{recipe}", data_dir, settings)


def _rows(
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
    made = one.victim(weights, partial(callback.advanced, f"victim of {one.set}: fine-tuning steps"))
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    callback.message(
        f"victim of {one.set}: {one.training.name} without {made.num_removed} attacked texts, "
        f"dev accuracy {made.dev_accuracy:.1%}{weak}"
    )
    return made


def given_options(context: parameters.Context) -> Given:
    """Return the options that were written, even with their default values."""
    return {
        param.name or "": param.opts[0]
        for param in context.command.params
        if param.opts[0].startswith("-") and _is_given(context, param.name or "")
    }


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


def _is_given(context: parameters.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"
