"""The names of all evaluations a study may ask for: those of frozen encoders, and those that ask for more."""

from rse_study.data.attack_sets import ATTACK_SETS
from rse_study.data.glue import GLUE
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.names import known_evaluations

ATTACKED = tuple(name for name in ATTACK_SETS if name != "ag")  # ag: there is nothing to train a victim on
ADVERSARIAL_STS = ("AdvSTS-B", "AdvSICK-R")  # as RobustSentEmbed calls them
FINE_TUNED = "fine_tuned"  # the preset of what is measured after fine-tuning
NLI = ("SNLI", "MNLI", "ANLI")


def attack_names() -> tuple[str, ...]:
    """attack-<set>/<recipe>: classifiers under attack."""
    return tuple(f"attack-{name}/{recipe}" for name in ATTACKED for recipe in RECIPES)


def adversarial_sts_names() -> tuple[str, ...]:
    """AdvSTS-B/<recipe>, AdvSICK-R/<recipe>: similarity under attack."""
    return tuple(f"{task}/{recipe}" for task in ADVERSARIAL_STS for recipe in RECIPES)


def fine_tuned_names() -> tuple[str, ...]:
    """Natural language inference and GLUE after fine-tuning."""
    tasks = (*NLI, *(f"GLUE-{task}" for task in GLUE))
    return tuple(f"{task}/{FINE_TUNED}" for task in tasks)


def all_evaluations() -> tuple[str, ...]:
    """Every evaluation by name."""
    return (*known_evaluations(), *attack_names(), *adversarial_sts_names(), *fine_tuned_names())
