"""What `evaluate --suite attacks` does: victims fine-tuned from an encoder, attacks on them, every outcome kept."""

import json
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from rse_study.assets.minilm import minilm_folder, minilm_generator
from rse_study.assets.victim import WEAK, Victim, victim
from rse_study.cli.found import model_name
from rse_study.cli.places import require_cache, require_folder
from rse_study.cli.screen import announce, print_table
from rse_study.data.attack_sets import read_attack_set
from rse_study.data.corpus import Corpus, read_corpus
from rse_study.data.labelled import Labelled
from rse_study.data.location import cache_dir
from rse_study.data.victim_texts import training_for
from rse_study.errors import InputError
from rse_study.evaluation.attacks.engine import attack
from rse_study.evaluation.attacks.kept import KeptOutcomes
from rse_study.evaluation.attacks.recipe import Recipe
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.attacks.resources import Named, Resources
from rse_study.evaluation.attacks.summary import summarise
from rse_study.evaluation.attacks.transformations.masked_lm import MaskedLM
from rse_study.evaluation.sts import Embed
from rse_study.models.embedder import Embedder
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.masked_words import MaskedWords
from rse_study.training.tuning_config import FineTuning

TOLD_EVERY = 50  # inputs
NEEDS_MASKED_LM = ("bae", "bert_attack")
WIKI = {"source": ["wiki/wiki1m_head/wiki1m_for_simcse.head.txt", "wiki/wikitext2/sentences.txt"], "limit": 0}


@dataclass(frozen=True)
class Asked:
    """What is attacked, and how hard."""

    data_dir: Path
    sets: Sequence[str]
    recipes: Sequence[str]
    num_inputs: int
    max_queries: int
    seed: int
    tuning: FineTuning
    masked_lm: str
    out: Path


def attack_here(model: str, pooling: str, asked: Asked, threads: int, as_json: bool) -> None:
    """Attack and print. Interrupted, the same command goes on."""
    require_cache()
    require_folder(asked.out, where="--out")
    for recipe in asked.recipes:
        RECIPES.get(recipe, where="--recipe")
    inputs = {name: _inputs(name, asked) for name in asked.sets}
    resources = _resources(asked)
    if threads:
        torch.set_num_threads(threads)
    rows = [
        row for name in asked.sets for row in _attacked(model, pooling, name, inputs[name], resources, asked)
    ]
    (asked.out / "summary.json").write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if as_json:
        announce(json.dumps(rows, indent=1))
    else:
        print_table(_table(rows))
        announce(f"every input: {asked.out.resolve()}/*.jsonl")


def _inputs(name: str, asked: Asked) -> Labelled:
    found = read_attack_set(name, asked.data_dir)
    return found.take(np.arange(min(asked.num_inputs, len(found)))) if asked.num_inputs else found


def _attacked(
    model: str, pooling: str, name: str, inputs: Labelled, resources: Resources, asked: Asked
) -> Iterator[dict[str, Any]]:
    """A row a recipe."""
    made = _victim(model, pooling, name, asked)
    classifier = made.load()
    predict = classifier.predicting(inputs.classes)
    for each in asked.recipes:
        recipe = RECIPES.get(each)(resources)
        kept = KeptOutcomes(asked.out / f"{name}-{each}.jsonl", _head(recipe, each, made, inputs, asked))
        num_before, begun = len(kept.done), time.monotonic()
        for outcome in attack(
            recipe, predict, inputs, max_queries=asked.max_queries, seed=asked.seed, done=dict(kept.done)
        ):
            kept.add(outcome)
            if len(kept.done) % TOLD_EVERY == 0 or len(kept.done) == len(inputs):
                announce(f"{name} {each}: {len(kept.done)} of {len(inputs)} inputs")
        summary = summarise(kept)
        yield {
            "set": name,
            "recipe": each,
            "label": recipe.label,
            "victim_dev_accuracy": made.dev_accuracy,
            "weak": made.is_weak,
            **asdict(summary),
            "num_now": len(kept.done) - num_before,
            "seconds_now": time.monotonic() - begun,
            "seed": asked.seed,
            "fingerprint": inputs.fingerprint,
        }


def _victim(model: str, pooling: str, name: str, asked: Asked) -> Victim:
    folder = model_name(model)
    kind = load_encoder(folder, pooling)[0].pooling
    training, whole = training_for(name, asked.data_dir), read_attack_set(name, asked.data_dir)

    def told(progress: Any) -> None:
        if progress.t % 50 == 0:
            announce(f"victim of {name}: step {progress.t} of {progress.num_steps}")

    # Of the whole set, not of the inputs asked for: more of them later, and the victim stays.
    made = victim(
        cache_dir() / "assets", folder, kind, training, whole.texts, asked.seed, asked.tuning, told=told
    )
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    announce(
        f"victim of {name}: {training.name} without {made.num_removed} attacked texts, "
        f"dev accuracy {made.dev_accuracy:.1%}{weak}"
    )
    return made


def _head(recipe: Recipe, name: str, made: Victim, inputs: Labelled, asked: Asked) -> dict[str, Any]:
    """What the outcomes in a file are outcomes of."""
    return {
        "recipe": name,
        "label": recipe.label,
        "victim": made.folder.name,
        "set": inputs.name,
        "max_queries": asked.max_queries,
        "seed": asked.seed,
    }


def _resources(asked: Asked) -> Resources:
    """Similarity by MiniLM where it is installed; the masked LM that was named. Recipes ask for what they need."""
    return Resources(asked.data_dir, encoder=_encoder(), masked_lm=_masked_lm(asked))


def _encoder() -> Named[Embed] | None:
    try:
        folder = minilm_folder()
    except InputError:
        return None
    embed: Embed = Embedder(*load_encoder(folder))
    return Named("minilm", embed)


def _masked_lm(asked: Asked) -> Named[MaskedLM] | None:
    if not asked.masked_lm or not set(NEEDS_MASKED_LM) & set(asked.recipes):
        return None
    path = asked.masked_lm
    if path == "minilm-mlm":
        sentences = read_corpus(Corpus.model_validate(WIKI), asked.data_dir).sentences
        path = str(minilm_generator(cache_dir() / "assets", sentences))
    model: MaskedLM = MaskedWords(load_generator(path))
    return Named(asked.masked_lm, model)


def _table(rows: Sequence[dict[str, Any]]) -> pd.DataFrame:
    columns = {
        "set": "set",
        "recipe": "recipe",
        "num_inputs": "inputs",
        "num_skipped": "skipped",
        "original_accuracy": "accuracy",
        "accuracy_under_attack": "under attack",
        "success_rate": "success",
        "mean_queries": "queries",
        "share_of_words_changed": "words changed",
    }
    shares = {"original_accuracy", "accuracy_under_attack", "success_rate", "share_of_words_changed"}
    shown = [
        {
            title: f"{row[key]:.1%}"
            if key in shares
            else f"{row[key]:.1f}"
            if key == "mean_queries"
            else str(row[key])
            for key, title in columns.items()
        }
        for row in rows
    ]
    return pd.DataFrame(shown, columns=list(columns.values()))
