"""EVALUATIONS of weights, imported when read, and every evaluation by name."""

import dataclasses
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from rse_study.data.attack_sets import ATTACK_SETS
from rse_study.data.labelled_sets import REVIEWS
from rse_study.data.tasks import GLUE, HUB_NAME
from rse_study.evaluation import registry as frozen
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.registry import EvaluationFamily, families, known_evaluations
from rse_study.registry import Registry, did_you_mean
from rse_study.spec import Spec, field
from rse_study.training.classifier.config import FineTuning


class Attacks(Spec):
    """How attacks are run; an evaluation's name says what is attacked, and how."""

    num_inputs: NonNegativeInt = 0
    """the first so many of a set; 0: all of it"""
    num_training: NonNegativeInt = 0
    """texts drawn to train a victim on; 0: all there are"""
    max_queries: PositiveInt = 5000
    """answers a victim gives for one input"""
    classifier: Literal["fine_tuned", "probe"] = field("fine_tuned", neutral="fine_tuned")
    """the victim of texts: fine-tuned from the encoder, or a logistic regression on its frozen vectors"""
    seed: NonNegativeInt = 0
    """of what a recipe draws, and of the victim's fine-tuning"""
    masked_lm: str = ""
    """bae and bert_attack need one: a folder, a hub name, or minilm-mlm"""
    goal: Literal["deviation", "drift", "maximise"] = "deviation"
    """of an attack on similarity: away from gold, away from the clean score, as far as it goes"""
    tau: PositiveFloat = 1.0
    """how far that must be, on the gold scale"""
    scores: Literal["affine", "isotonic"] = "affine"
    """the map from cosines to the gold scale, fitted on dev pairs"""
    sides: Literal["first", "second", "both"] = "both"
    """sentences of a pair under an attack on similarity that may be changed"""


class Tasks(Spec):
    """What NLI and GLUE are fine-tuned on; `fine_tuning` says how."""

    num_training: NonNegativeInt = 0
    """texts drawn of a task's training set; 0: all there are"""
    seed: NonNegativeInt = 0
    """of what is drawn, and of the fine-tuning"""
    glue: str = field(HUB_NAME, min_length=1)
    """GLUE in the hub's layout: a folder (absolute or in the data folder), else a name on the hub"""


@dataclasses.dataclass(frozen=True)
class Settings:
    """A study's settings of all such evaluations."""

    attacks: Attacks
    fine_tuning: FineTuning
    tasks: Tasks = dataclasses.field(default_factory=Tasks)


ATTACKED = tuple(name for name in ATTACK_SETS if name != "ag")
"""Sets whose classifiers are attacked; ag has no training texts for a victim."""
ADVERSARIAL_STS = ("AdvSTS-B", "AdvSICK-R")
FINE_TUNED = "fine_tuned"
WEAKENED = "weakened"
SYNONYMS = "synonyms"
"""Preset of a fine-tuned task whose held-out texts have words replaced by WordNet synonyms."""
NLI = ("SNLI", "MNLI", "ANLI", "FEVER")

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
            "rse_study.downstream.fine_tuned_tasks:NliFineTuned",
            tuple(f"{task}/{FINE_TUNED}" for task in NLI),
        ),
        "WeakenedTokens": EvaluationFamily(
            "rse_study.downstream.weakened:WeakenedTokens", (f"STS-B/{WEAKENED}",)
        ),
        "ReviewsFineTuned": EvaluationFamily(
            "rse_study.downstream.fine_tuned_tasks:ReviewsFineTuned",
            tuple(f"{task}/{FINE_TUNED}" for task in REVIEWS),
        ),
        "SquadFineTuned": EvaluationFamily(
            "rse_study.downstream.fine_tuned_tasks:SquadFineTuned",
            (f"SQuAD/{FINE_TUNED}", f"SQuAD/{SYNONYMS}"),
        ),
        "GlueFineTuned": EvaluationFamily(
            "rse_study.downstream.fine_tuned_tasks:GlueFineTuned",
            tuple(f"GLUE-{task}/{preset}" for preset in (FINE_TUNED, SYNONYMS) for task in GLUE),
        ),
    },
)


def all_evaluations() -> tuple[str, ...]:
    """Return every evaluation's name, those of frozen encoders first."""
    return (*known_evaluations(), *families(EVALUATIONS_OF_WEIGHTS))


def read_evaluation(name: str, data_dir: Path, settings: Settings | None = None) -> Evaluation:
    """Read an evaluation with its data; InputError if unknown, or a file is missing."""
    of_weights = families(EVALUATIONS_OF_WEIGHTS)
    if name not in of_weights:
        return frozen.read_evaluation(name, data_dir)
    evaluation: Evaluation = (
        of_weights.get(name).load().read(name, data_dir, settings or Settings(Attacks(), FineTuning()))
    )
    return evaluation


def expand_evaluations(patterns: Sequence[str]) -> tuple[str, ...]:
    """Replace patterns such as `attack-mr/*` or `*/fast` by the names that they match.

    The order is the study's, then the registry's; a pattern adds no name twice, and one without a match is a
    ValueError. Plain names stay, even unknown or repeated ones, so that the study's own checks can report
    them.

    >>> expand_evaluations(["MR/full", "SUBJ/*"])
    ('MR/full', 'SUBJ/fast', 'SUBJ/full')
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
    """Whether the name contains a shell wildcard (`*`, `?` or `[`)."""
    return any(wildcard in name for wildcard in "*?[")


def _patterns() -> tuple[str, ...]:
    halves = [name.split("/") for name in all_evaluations()]
    return tuple(dict.fromkeys([f"{task}/*" for task, _ in halves] + [f"*/{preset}" for _, preset in halves]))
