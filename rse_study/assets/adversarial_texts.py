"""Replayed adversarial texts, attacked once through a probe on the reference."""

from dataclasses import replace
from pathlib import Path

from rse_study.activity import ProgressCallback
from rse_study.assets.adversarial_set import attack_inputs, write_attacked
from rse_study.assets.attack_resources import fingerprints_of, resources_of
from rse_study.assets.reference import Reference
from rse_study.assets.store import build
from rse_study.data.few_labelled import FewLabelled, read_few_labelled
from rse_study.evaluation.attacks.outcome import summarise
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.replayed_texts import ReplayedTexts, probe_of, victim_of
from rse_study.training.trial import Encoder, Replayed

KIND = "adversarial-texts"
SEMANTICS = 1  # bump when the same settings find other texts


def adversarial_texts(
    root: Path,
    replayed: Replayed,
    base: str,
    encoder: Encoder,
    data_dir: Path,
    on_progress: ProgressCallback = lambda done, total: None,
    folders: tuple[Path, ...] = (),
) -> Path:
    """Return the folder of the attacked texts, building it if it does not exist.

    The victim is a logistic regression on the reference's frozen embeddings. An attack changes a text until
    the victim predicts another class; misclassified texts stay as they are.
    """
    reference, few = Reference.of(replayed, base, encoder, *folders), read_for(replayed, data_dir)
    key = {
        **reference.key(),
        "training": few.training.fingerprint,
        "inputs": few.inputs.fingerprint,
        "recipe": replayed.recipe,
        "max_queries": replayed.max_queries,
        "seed": replayed.seed,
        "resources": fingerprints_of(replayed.recipe, data_dir),
        "semantics": SEMANTICS,
    }

    def make(draft: Path) -> None:
        embed = reference.load()
        recipe = RECIPES.get(replayed.recipe)()
        attack = recipe.build(resources_of(replayed.recipe, data_dir))
        victim = victim_of(embed, probe_of(embed, few.training))
        where = f"{few.inputs.name} {few.inputs.split}"
        outcomes = attack_inputs(attack, victim, few.inputs, replayed, where, on_progress)
        attacked = replace(few.inputs, texts=[row.adversarial for row in outcomes])
        figures = summarise(outcomes)
        texts = ReplayedTexts(few.training, few.inputs, attacked, attack.label, replayed.reference)
        write_attacked(
            draft, texts, {"asset": KIND, **key}, outcomes, clean_accuracy=100 * figures.original_accuracy,
            accuracy_under_attack=100 * figures.accuracy_under_attack, mean_queries=figures.mean_queries,
        )  # fmt: skip

    return build(root, KIND, key, make)


def read_for(replayed: Replayed, data_dir: Path) -> FewLabelled:
    """Read the texts that a trial names."""
    return read_few_labelled(
        replayed.labelled,
        data_dir,
        num_inputs=replayed.num_texts,
        num_training=replayed.num_training,
        seed=replayed.seed,
    )
