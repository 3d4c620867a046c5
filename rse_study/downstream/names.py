"""The names of all evaluations a study may ask for: those of frozen encoders, and those that ask for more."""

from collections.abc import Sequence
from fnmatch import fnmatchcase

from rse_study.data.attack_sets import ATTACK_SETS
from rse_study.data.glue import GLUE
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.names import known_evaluations
from rse_study.registry import did_you_mean

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


def expand_evaluations(patterns: Sequence[str]) -> tuple[str, ...]:
    """Names as a study lists them, with every pattern (`attack-mr/*`, `*/fast`) replaced by what it matches.

    The order is the file's, and the registry's within a pattern; a pattern adds no name that is there already. Names
    without a wildcard stay as they are, unknown ones and repetitions included: the rules of a study speak of those.

    >>> expand_evaluations(["MR/full", "SUBJ/*"])
    ('MR/full', 'SUBJ/fast', 'SUBJ/full')

    Raises
    ------
    ValueError
        Where a pattern matches nothing.
    """
    expanded: list[str] = []
    by_pattern: set[str] = set()
    for pattern in patterns:
        if not is_pattern(pattern):
            expanded += [pattern] if pattern not in by_pattern else []
            continue
        matching = [name for name in all_evaluations() if fnmatchcase(name, pattern)]
        if not matching:
            raise ValueError(f"{pattern!r} matches no evaluation. {did_you_mean(pattern, _patterns())}")
        new = [name for name in matching if name not in expanded]
        expanded += new
        by_pattern |= {*new}
    return tuple(expanded)


def is_pattern(name: str) -> bool:
    """Whether the name has a wildcard of the shell (`*`, `?`, `[...]`)."""
    return any(wildcard in name for wildcard in "*?[")


def _patterns() -> tuple[str, ...]:
    """Patterns of all evaluations with one half: `MR/*`, `*/fast`."""
    halves = [name.split("/") for name in all_evaluations()]
    return tuple(dict.fromkeys([f"{task}/*" for task, _ in halves] + [f"*/{preset}" for _, preset in halves]))
