"""Replayed adversarial pairs: dev pairs attacked once for all trials of a study."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Int

from rse_study.activity import ProgressCallback
from rse_study.assets.attack_resources import fingerprints_of, resources_of
from rse_study.assets.reference import Reference
from rse_study.assets.store import build, write_meta
from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.errors import InputError
from rse_study.evaluation.adversarial_sts import fit_score, summarise_scores, targets_of, victim_of
from rse_study.evaluation.attacks.attack import Attack, Target
from rse_study.evaluation.attacks.engine import Victim, attack_all
from rse_study.evaluation.attacks.goals import Maximise
from rse_study.evaluation.attacks.outcome import AttackOutcome
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.replayed import ReplayedPairs
from rse_study.evaluation.replayed_texts import ReplayedTexts
from rse_study.streams import Streams
from rse_study.training.trial import Encoder, Replayed

KIND = "adversarial"
SEMANTICS = 2  # bump when the same settings find other texts, or are refused
NUM_IN_FLIGHT = 8
OF_TEXTS = {"labelled", "num_texts", "num_training"}  # fields that do not affect the pairs


def adversarial_set(
    root: Path,
    replayed: Replayed,
    base: str,
    encoder: Encoder,
    dev: StsPairs,
    data_dir: Path,
    on_progress: ProgressCallback = lambda done, total: None,
    folders: tuple[Path, ...] = (),
) -> Path:
    """Return the folder of the attacked pairs, building it if it does not exist.

    All dev pairs fit the map from cosines to gold, a sample is attacked; pooling and template are the trial's.
    """
    reference = Reference.of(replayed, base, encoder, *folders)
    key = {
        **reference.key(),
        "pairs": dev.fingerprint,
        "replayed": replayed.model_dump(mode="json", exclude=OF_TEXTS),
        "resources": fingerprints_of(replayed.recipe, data_dir),
        "semantics": SEMANTICS,
    }

    def make(draft: Path) -> None:
        embed = reference.load()
        recipe = RECIPES.get(replayed.recipe)(sides=replayed.sides)
        attack = recipe.build(resources_of(replayed.recipe, data_dir), Maximise(distance="deviation"))
        targets = targets_of(dev, _drawn(len(dev), replayed.num_pairs, replayed.seed))
        victim = victim_of(embed, fit_score(embed, dev))
        outcomes = attack_inputs(attack, victim, targets, replayed, f"{dev.name} {dev.split}", on_progress)
        figures = summarise_scores(outcomes)
        write_attacked(
            draft, _pairs(dev, outcomes, attack.label, replayed.reference), {"asset": KIND, **key}, outcomes,
            clean_spearman=figures.clean_spearman, spearman_under_attack=figures.spearman_under_attack,
            mean_drift=figures.mean_drift, mean_queries=figures.counts.mean_queries,
        )  # fmt: skip

    return build(root, KIND, key, make)


def _drawn(num_given: int, num_wanted: int, seed: int) -> Int[np.ndarray, " m"]:
    """Draw the indices of the pairs to attack.

    An evaluation's sample would not do: it can grow, and these texts are part of the cells' identities.
    """
    if num_wanted >= num_given:
        return np.arange(num_given)
    return np.sort(Streams(seed).numpy("attack").choice(num_given, num_wanted, replace=False))


def attack_inputs(
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


def write_attacked(
    draft: Path,
    attacked: ReplayedPairs | ReplayedTexts,
    asset: dict[str, Any],
    outcomes: Sequence[AttackOutcome],
    **figures: float,
) -> None:
    """Write the draft of an asset: the attacked inputs, and figures of the attack."""
    draft.mkdir()
    attacked.save(draft)
    num_changed = sum(bool(outcome.changed) for outcome in outcomes)
    write_meta(draft, {**asset, "recipe": attacked.recipe, "num_changed": num_changed, **figures})


def _pairs(dev: StsPairs, rows: list[AttackOutcome], label: str, reference: str) -> ReplayedPairs:
    gold = np.array([row.label for row in rows], np.float64)
    clean, attacked = (
        StsPairs(dev.name, dev.split, [text[0] for text in texts], [text[1] for text in texts], gold)
        for texts in ([row.original for row in rows], [row.adversarial for row in rows])
    )
    return ReplayedPairs(clean, attacked, label, reference)
