"""Replayed attacks: dev pairs and labelled texts, attacked once for a whole study."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from rse_study.activity import ProgressCallback
from rse_study.assets.attack_resources import fingerprints_of, resources_of
from rse_study.assets.store import build, fingerprint_of_model, write_meta
from rse_study.assets.tiny import packaged
from rse_study.data import builtin
from rse_study.data.attack_sets import BUILTIN, unseen
from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import read_labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import Attack, AttackOutcome, Move, Target, summarise
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts, probabilities_by, probe_of
from rse_study.evaluation.sts import fit_score, summarise_scores, targets_of, victim_of
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.streams import Streams
from rse_study.training.trial import Encoder, Replayed

PAIRS, TEXTS = "adversarial", "adversarial-texts"
SEMANTICS_OF_PAIRS = 2  # bump when the same settings find other texts, or are refused
SEMANTICS_OF_TEXTS = 1
NUM_IN_FLIGHT = 8
OF_TEXTS = {"labelled", "num_texts", "num_training"}  # fields that do not affect the pairs
Made = tuple[ReplayedPairs | ReplayedTexts, Sequence[AttackOutcome], dict[str, float]]
"""attacked inputs, the outcomes, and figures of the attack"""


@dataclass(frozen=True)
class Reference:
    """The encoder that is attacked, read with a trial's own pooling and template."""

    name: str
    """folder or hub name"""
    revision: str
    encoder: Encoder
    """supplies pooling and template"""

    @classmethod
    def of(cls, replayed: Replayed, base: str, encoder: Encoder, *folders: Path) -> "Reference":
        """Resolve the reference a study names: base, minilm, a folder or a hub name."""
        if replayed.reference == "base":
            return cls(base, encoder.revision, encoder)
        return cls(packaged(replayed.reference, *folders), "main", encoder)

    def key(self) -> dict[str, str]:
        return {
            "reference": fingerprint_of_model(self.name, self.revision),
            **self.encoder.reading(),
        }

    def load(self) -> Embedder:
        asked = self.encoder
        return Embedder(*load_encoder(self.name, asked.pooling, self.revision, asked.prompt), asked.template)


def adversarial_set(
    root: Path,
    replayed: Replayed,
    reference: Reference,
    dev: StsPairs,
    data_dir: Path,
    on_progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """Return the folder of the attacked pairs, building it if it does not exist.

    All dev pairs fit the map from cosines to gold, a sample is attacked; pooling and template are the trial's.
    """
    key = {
        **reference.key(),
        "pairs": dev.fingerprint,
        "replayed": replayed.model_dump(mode="json", exclude=OF_TEXTS),
        "resources": fingerprints_of(replayed.recipe, data_dir),
        "semantics": SEMANTICS_OF_PAIRS,
    }

    def make() -> Made:
        embed = reference.load()
        recipe = RECIPES.get(replayed.recipe)(sides=replayed.sides)
        attack = recipe.build(resources_of(replayed.recipe, data_dir), Move(tau=None))
        victim, targets = victim_of(embed, fit_score(embed, dev)), targets_of(dev, _drawn(len(dev), replayed))
        outcomes = _outcomes(attack, victim, targets, replayed, f"{dev.name} {dev.split}", on_progress)
        figures = summarise_scores(outcomes)
        named = {
            name: getattr(figures, name) for name in ("clean_spearman", "spearman_under_attack", "mean_drift")
        }
        pairs = _pairs(dev, outcomes, attack.label, replayed.reference)
        return pairs, outcomes, {**named, "mean_queries": figures.counts.mean_queries}

    return _built(root, PAIRS, key, make)


def adversarial_texts(
    root: Path,
    replayed: Replayed,
    reference: Reference,
    data_dir: Path,
    on_progress: ProgressCallback = lambda done, total: None,
) -> Path:
    """Return the folder of the attacked texts, building it if it does not exist.

    The victim is a logistic regression on the reference's frozen embeddings. An attack changes a text until
    the victim predicts another class; misclassified texts stay as they are.
    """
    few = read_for(replayed, data_dir)
    key = {
        **reference.key(),
        "training": few.training.fingerprint,
        "inputs": few.inputs.fingerprint,
        "recipe": replayed.recipe,
        "max_queries": replayed.max_queries,
        "seed": replayed.seed,
        "resources": fingerprints_of(replayed.recipe, data_dir),
        "semantics": SEMANTICS_OF_TEXTS,
    }

    def make() -> Made:
        embed, recipe = reference.load(), RECIPES.get(replayed.recipe)()
        attack = recipe.build(resources_of(replayed.recipe, data_dir))
        victim = probabilities_by(probe_of(embed, few.training), embed)
        where = f"{few.inputs.name} {few.inputs.split}"
        outcomes = _outcomes(attack, victim, few.inputs, replayed, where, on_progress)
        attacked = replace(few.inputs, texts=[row.adversarial for row in outcomes])
        texts = ReplayedTexts(few.training, few.inputs, attacked, attack.label, replayed.reference)
        figures = summarise(outcomes)
        named = {
            "clean_accuracy": 100 * figures.original_accuracy,
            "accuracy_under_attack": 100 * figures.accuracy_under_attack,
        }
        return texts, outcomes, {**named, "mean_queries": figures.mean_queries}

    return _built(root, TEXTS, key, make)


@dataclass(frozen=True)
class FewLabelled:
    """Texts to fit a probe on and texts to attack, disjoint.

    They come only from sets without a test split: one that trials are selected by could not be reported.
    """

    training: Labelled
    inputs: Labelled


def read_for(replayed: Replayed, data_dir: Path) -> FewLabelled:
    """Draw texts to attack, and others to train on, from the stream `order`."""
    labelled, num_inputs, num_training = replayed.labelled, replayed.num_texts, replayed.num_training
    whole = builtin.opinions() if labelled == BUILTIN else read_labelled(labelled, "all", data_dir)
    where = f"{whole.name} {whole.split}"
    order = Streams(replayed.seed).numpy("order").permutation(len(whole))
    inputs = whole.take(order[:num_inputs])
    # Sets contain duplicates, but no input may be among its probe's training texts.
    rest = whole.take(order[num_inputs:])
    others = rest.take(unseen(rest.texts, inputs.texts))
    if len(others) < num_training:
        rule = f"{num_inputs} to attack leave {len(others)} others, and {num_training} are to be trained on"
        raise InputError("too few texts", where=where, rule=rule, remedy="Ask for fewer")
    training = others.take(np.arange(num_training))
    absent = sorted(set(range(len(whole.classes))) - set(training.labels.tolist()))
    if absent:
        what = f"none of {num_training} training texts is {whole.classes[absent[0]]!r}"
        rule = "a probe needs texts of every class"
        raise InputError(what, where=where, rule=rule, remedy="Ask for more, or draw them by another seed")
    return FewLabelled(training, inputs)


def _drawn(num_given: int, replayed: Replayed) -> Int[np.ndarray, " m"]:
    """Draw the indices of the pairs to attack.

    An evaluation's sample would not do: it can grow, and these texts are part of the cells' identities.
    """
    if replayed.num_pairs >= num_given:
        return np.arange(num_given)
    return np.sort(
        Streams(replayed.seed).numpy("attack").choice(num_given, replayed.num_pairs, replace=False)
    )


def _outcomes(
    attack: Attack,
    victim: Victim,
    inputs: Labelled | Sequence[Target],
    replayed: Replayed,
    where: str,
    on_progress: ProgressCallback,
) -> list[AttackOutcome]:
    """Return the attacks' outcomes by index; InputError if no attack changed a text."""
    outcomes: list[AttackOutcome] = []
    attacked = attack_all(
        attack, victim, inputs,
        max_queries=replayed.max_queries, seed=replayed.seed, num_in_flight=NUM_IN_FLIGHT,
    )  # fmt: skip
    for outcome in attacked:
        outcomes.append(outcome)
        on_progress(len(outcomes), len(inputs))
    if not any(outcome.changed for outcome in outcomes):
        what = f"{replayed.recipe} changed none of {len(outcomes)} inputs"
        rule = f"{replayed.max_queries} queries each, and all are as they were: a replayed set of these is no attack"
        remedy = "Raise replayed.max_queries, or choose another recipe or reference"
        raise InputError(what, where=where, rule=rule, remedy=remedy)
    return sorted(outcomes, key=lambda row: row.index)


def _pairs(dev: StsPairs, rows: list[AttackOutcome], label: str, reference: str) -> ReplayedPairs:
    gold = np.array([row.label for row in rows], np.float64)
    clean, attacked = (
        StsPairs(dev.name, dev.split, [text[0] for text in texts], [text[1] for text in texts], gold)
        for texts in ([row.original for row in rows], [row.adversarial for row in rows])
    )
    return ReplayedPairs(clean, attacked, label, reference)


def _built(root: Path, kind: str, key: dict[str, Any], make: Callable[[], Made]) -> Path:
    """Build the asset of attacked inputs, with figures of the attack in its meta.json."""

    def write(draft: Path) -> None:
        attacked, outcomes, figures = make()
        draft.mkdir()
        attacked.save(draft)
        num_changed = sum(bool(outcome.changed) for outcome in outcomes)
        said = {"asset": kind, **key, "recipe": attacked.recipe, "num_changed": num_changed}
        write_meta(draft, {**said, **figures})

    return build(root, kind, key, write)
