"""Every evaluation by name, with its data and settings."""

from functools import lru_cache
from pathlib import Path

from rse_study.data.attack_sets import read_attack_set
from rse_study.data.labelled import Labelled
from rse_study.data.readers import read_sts
from rse_study.data.victim_texts import training_for
from rse_study.downstream.attack_models import fingerprint_resources, resources_for
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.downstream.attacked_similarity import AttackedSimilarity
from rse_study.downstream.fine_tuned import drawn
from rse_study.downstream.glue import read_glue_fine_tuned
from rse_study.downstream.names import NLI, adversarial_sts_names, attack_names, fine_tuned_names
from rse_study.downstream.nli import read_nli_fine_tuned
from rse_study.downstream.settings import Attacks, Settings
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.registry import read_evaluation as read_of_vectors
from rse_study.training.classifier.config import FineTuning

_DEV = {"STS-B": "dev", "SICK-R": "trial"}


def read_evaluation(name: str, data_dir: Path, settings: Settings | None = None) -> Evaluation:
    """The evaluation with its data. Raises InputError where it is unknown, or something it needs is missing."""
    asked = settings or Settings(Attacks(), FineTuning())
    task, _, recipe = name.partition("/")
    if name in attack_names():
        return read_under_attack(task.removeprefix("attack-"), recipe, data_dir, asked)
    if name in adversarial_sts_names():
        return read_similarity_under_attack(task.removeprefix("Adv"), recipe, data_dir, asked.attacks)
    if name in fine_tuned_names():
        read = read_nli_fine_tuned if task in NLI else read_glue_fine_tuned
        return read(task, data_dir, asked)
    return read_of_vectors(name, data_dir)


def read_under_attack(name: str, recipe: str, data_dir: Path, settings: Settings) -> AttackedClassifier:
    """A recipe on the attack set of that name."""
    masked_lm = settings.attacks.masked_lm
    made_of = fingerprint_resources(recipe, data_dir, masked_lm)
    training = _training_texts(name, data_dir)
    places = drawn(len(training), settings.attacks.num_training, settings.attacks.seed)
    resources = resources_for(recipe, data_dir, masked_lm)
    whole = read_attack_set(name, data_dir)
    return AttackedClassifier(whole, training.take(places), recipe, settings, resources, made_of)


@lru_cache(maxsize=4)
def _training_texts(name: str, data_dir: Path) -> Labelled:
    """`training_for`, read once for all recipes on a set: tens of thousands of lines."""
    return training_for(name, data_dir)


def read_similarity_under_attack(
    task: str, recipe: str, data_dir: Path, attacks: Attacks
) -> AttackedSimilarity:
    """A recipe on the test pairs of a task, whose dev pairs fit the map from cosines to its gold scale."""
    made_of = fingerprint_resources(recipe, data_dir, attacks.masked_lm)
    pairs, fitting = (read_sts(task, split, data_dir) for split in ("test", _DEV[task]))
    resources = resources_for(recipe, data_dir, attacks.masked_lm)
    return AttackedSimilarity(pairs, fitting, recipe, attacks, resources, made_of)
