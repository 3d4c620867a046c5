"""EVALUATIONS of weights, and every evaluation a study may ask for.

Nothing that evaluates is imported before it is read.
"""

from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from rse_study.data.attack_sets import ATTACK_SETS
from rse_study.data.glue import GLUE
from rse_study.downstream.settings import Attacks, Settings
from rse_study.evaluation import registry as frozen
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.registry import EvaluationFamily, families, known_evaluations
from rse_study.registry import Registry, did_you_mean
from rse_study.training.classifier.config import FineTuning

ATTACKED = tuple(name for name in ATTACK_SETS if name != "ag")
"""Sets whose classifiers are attacked; of ag there is nothing to train a victim on."""
ADVERSARIAL_STS = ("AdvSTS-B", "AdvSICK-R")
"""As RobustSentEmbed calls them."""
FINE_TUNED = "fine_tuned"
"""The preset of what is measured after fine-tuning."""
NLI = ("SNLI", "MNLI", "ANLI")

EVALUATIONS_OF_WEIGHTS: Registry[EvaluationFamily] = Registry(
    "kind of evaluation",
    {
        "AttackedClassifier": EvaluationFamily(
            "rse_study.downstream.attacked_classifier:AttackedClassifier",
            tuple(f"attack-{name}/{recipe}" for name in ATTACKED for recipe in RECIPES),
        ),
        "AttackedSimilarity": EvaluationFamily(
            "rse_study.downstream.attacked_similarity:AttackedSimilarity",
            tuple(f"{task}/{recipe}" for task in ADVERSARIAL_STS for recipe in RECIPES),
        ),
        "NliFineTuned": EvaluationFamily(
            "rse_study.downstream.nli:NliFineTuned", tuple(f"{task}/{FINE_TUNED}" for task in NLI)
        ),
        "GlueFineTuned": EvaluationFamily(
            "rse_study.downstream.glue:GlueFineTuned", tuple(f"GLUE-{task}/{FINE_TUNED}" for task in GLUE)
        ),
    },
)
"""Evaluations of weights: a class reads one of them by (name, data folder, settings)."""


def all_evaluations() -> tuple[str, ...]:
    """Every evaluation by name: those of frozen encoders, and those that ask for more."""
    return (*known_evaluations(), *families(EVALUATIONS_OF_WEIGHTS))


def read_evaluation(name: str, data_dir: Path, settings: Settings | None = None) -> Evaluation:
    """The evaluation of that name, with its data.

    Parameters
    ----------
    name
        One of `all_evaluations()`.
    data_dir
        The data folder.
    settings
        What a study says about attacks and fine-tuning; none: the defaults.

    Raises
    ------
    InputError
        Where it is unknown, or something it needs is missing.
    """
    of_weights = families(EVALUATIONS_OF_WEIGHTS)
    if name not in of_weights:
        return frozen.read_evaluation(name, data_dir)
    evaluation: Evaluation = (
        of_weights.get(name).load().read(name, data_dir, settings or Settings(Attacks(), FineTuning()))
    )
    return evaluation


def expand_evaluations(patterns: Sequence[str]) -> tuple[str, ...]:
    """Names as a study lists them, with patterns replaced by what they match.

    The order is the file's, and the registry's within a pattern (`attack-mr/*`, `*/fast`); a pattern adds no name that
    is there already. Names without a wildcard stay as they are, unknown ones and repetitions included: the rules of a
    study speak of those.

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
