"""What `evaluate --suite attacks` does: victims fine-tuned from an encoder, attacks on them, every outcome kept."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from analysis.attacks import write_attacks
from rse_study.assets.minilm import minilm_generator
from rse_study.assets.similarity import sentence_similarity
from rse_study.assets.victim import WEAK, Victim, victim
from rse_study.cli.found import model_name
from rse_study.cli.places import require_cache, require_folder
from rse_study.cli.screen import announce, print_table
from rse_study.data.attack_sets import read_attack_set
from rse_study.data.corpus import Corpus, read_corpus
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
from rse_study.models.generators import load_generator
from rse_study.models.loading import load_encoder
from rse_study.models.masked_words import MaskedWords
from rse_study.training.tuning_config import FineTuning

TOLD_EVERY = 50  # inputs, steps
Say = Callable[[str], None]
NEEDS_MASKED_LM = ("bae", "bert_attack")
NEEDS_ENCODER = ("textfooler", "textbugger", "bae", "bert_attack")
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
    """Attack and print. Interrupted, the same command goes on. Whatever is missing is said before a victim is made."""
    require_cache()
    require_folder(asked.out, where="--out")
    say = partial(print, file=sys.stderr, flush=True) if as_json else announce
    lacking = [name for name in asked.recipes if name in NEEDS_MASKED_LM and not asked.masked_lm]
    if lacking:
        rule, remedy = (
            "its candidates are a masked language model's",
            "Give --masked-lm: a folder, or minilm-mlm",
        )
        raise InputError("no masked language model", where=f"--recipe {lacking[0]}", rule=rule, remedy=remedy)
    resources = _resources(asked)
    recipes = {name: RECIPES.get(name, where="--recipe")(resources) for name in asked.recipes}
    sets = {name: _Set(name, asked) for name in asked.sets}
    if threads:
        torch.set_num_threads(threads)
    rows = []
    for each in sets.values():
        made = _victim(model, pooling, each, asked, say)
        for name, recipe in recipes.items():
            rows.append(_attacked(each, made, name, recipe, asked, say))
            _keep_summary(asked.out, rows[-1])
    if as_json:
        announce(json.dumps(rows, indent=1))
    else:
        print_table(_table(rows))
        announce(f"every input: {asked.out.resolve()}/*.jsonl")
    say(f"report: {write_attacks(asked.out).resolve()}")


class _Set:
    """An attack set: all of it, the inputs asked for, and what a victim is trained on."""

    def __init__(self, name: str, asked: Asked) -> None:
        self.name, self.whole = name, read_attack_set(name, asked.data_dir)
        num_inputs = min(asked.num_inputs or len(self.whole), len(self.whole))
        self.inputs = self.whole.take(np.arange(num_inputs))
        self.training = training_for(name, asked.data_dir)


def _attacked(each: _Set, made: Victim, name: str, recipe: Recipe, asked: Asked, say: Say) -> dict[str, Any]:
    """One recipe on one set: the figures of the inputs asked for, NaN as null."""
    predict = made.load().predicting(each.inputs.classes)
    kept = KeptOutcomes(asked.out / f"{each.name}-{name}.jsonl", _head(name, recipe, made, each, asked))
    num_before, begun, wanted = len(kept.done), time.monotonic(), len(each.inputs)
    for outcome in attack(
        recipe, predict, each.inputs, max_queries=asked.max_queries, seed=asked.seed, done=dict(kept.done)
    ):
        kept.add(outcome)
        if len(kept.done) % TOLD_EVERY == 0 or len(kept.done) == wanted:
            say(f"{each.name} {name}: {len(kept.done)} of {wanted} inputs")
    figures = asdict(summarise(outcome for outcome in kept if outcome.index < wanted))
    return {
        "set": each.name,
        "recipe": name,
        "label": recipe.label,
        "victim": made.folder.name,
        "victim_dev_accuracy": made.dev_accuracy,
        "weak": made.is_weak,
        **{key: None if value != value else value for key, value in figures.items()},
        "num_now": len(kept.done) - num_before,
        "seconds_now": time.monotonic() - begun,
        "seed": asked.seed,
        "fingerprint": each.inputs.fingerprint,
    }


def _keep_summary(out: Path, row: dict[str, Any]) -> None:
    """summary.json: a row for each set and recipe that was ever attacked into this folder."""
    path = out / "summary.json"
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    others = [other for other in known if (other["set"], other["recipe"]) != (row["set"], row["recipe"])]
    path.write_text(json.dumps([*others, row], indent=1) + "\n", encoding="utf-8")


def _victim(model: str, pooling: str, each: _Set, asked: Asked, say: Say) -> Victim:
    folder = model_name(model)
    kind = load_encoder(folder, pooling)[0].pooling

    def told(progress: Any) -> None:
        if progress.t % TOLD_EVERY == 0:
            say(f"victim of {each.name}: step {progress.t} of {progress.num_steps}")

    # Without all of the set, not the inputs asked for alone: more of them later, and the victim stays.
    root, texts = cache_dir() / "assets", each.whole.texts
    made = victim(root, folder, kind, each.training, texts, asked.seed, asked.tuning, told=told)
    weak = f", below {WEAK:.0%}: weak" if made.is_weak else ""
    say(
        f"victim of {each.name}: {each.training.name} without {made.num_removed} attacked texts, "
        f"dev accuracy {made.dev_accuracy:.1%}{weak}"
    )
    return made


def _head(name: str, recipe: Recipe, made: Victim, each: _Set, asked: Asked) -> dict[str, Any]:
    """What the outcomes in a file are outcomes of."""
    return {
        "recipe": name,
        "label": recipe.label,
        "victim": made.folder.name,
        "set": each.name,
        "fingerprint": each.whole.fingerprint,
        "max_queries": asked.max_queries,
        "seed": asked.seed,
    }


def can_run(recipe: str, masked_lm: str) -> bool:
    """Whether a recipe has the models it needs, where none was named: the default is those that have."""
    if recipe in NEEDS_MASKED_LM and not masked_lm:
        return False
    return recipe not in NEEDS_ENCODER or sentence_similarity() is not None


def _resources(asked: Asked) -> Resources:
    """Similarity by MiniLM where it is installed; the masked LM that was named. Recipes ask for what they need."""
    return Resources(asked.data_dir, encoder=sentence_similarity(), masked_lm=_masked_lm(asked))


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
