"""EVALUATIONS of weights, imported when read, and every evaluation by name."""

import dataclasses
from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Literal

from pydantic import NonNegativeInt, PositiveFloat, PositiveInt

from rse_study import evaluation as frozen
from rse_study.data import GLUE, HUB_NAME
from rse_study.data.attack_sets import ATTACK_SETS, OF_GLUE, OF_TRANSFER
from rse_study.data.catalogue import catalogue
from rse_study.data.labelled_sets import REVIEWS
from rse_study.data.lexicons import english_stopwords, wordnet_archive
from rse_study.evaluation import INVARIANCE, MTEB, EvaluationFamily, families, known_evaluations
from rse_study.evaluation.attacks.attack_recipe import Resource
from rse_study.evaluation.attacks.recipes import RECIPES
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.own_files import AskedEvaluation
from rse_study.registry import Registry, did_you_mean
from rse_study.results.records import PLANE
from rse_study.spec import Spec, field
from rse_study.training.classifier import FineTuning


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
    augments: bool = False
    """whether a classifier is fine-tuned on texts with synonyms, too"""
    words: Path = Path()
    """the data folder, whose WordNet has them"""

    def relocated(self, move: Callable[[str], str]) -> "Settings":
        """Return a copy that reads WordNet where `move` puts it."""
        from rse_study.assets.attack_resources import ResourceLoader  # models, which checks do without

        loader = ResourceLoader("pwws", self.words, "")  # which reads the same files
        return dataclasses.replace(self, words=loader.relocated(move).data_dir) if self.augments else self


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
            "rse_study.downstream.fine_tuned_tasks:NliFineTuned",
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


def is_of_vectors(name: str) -> bool:
    """Whether an evaluation scores frozen vectors, as a cell's own process does."""
    return name not in families(EVALUATIONS_OF_WEIGHTS)


def read_evaluation(name: str, data_dir: Path, settings: Settings | None = None) -> Evaluation:
    """Read an evaluation with its data; InputError if unknown, or a file is missing."""
    of_weights = families(EVALUATIONS_OF_WEIGHTS)
    if name not in of_weights:
        return frozen.read_evaluation(name, data_dir)
    asked = dataclasses.replace(settings or Settings(Attacks(), FineTuning()), words=data_dir.resolve())
    if asked.augments:  # fails now rather than after hours of training
        english_stopwords(data_dir)
        wordnet_archive(data_dir)
    evaluation: Evaluation = of_weights.get(name).load().read(name, data_dir, asked)
    return evaluation


def expand_evaluations(patterns: Sequence[AskedEvaluation]) -> tuple[AskedEvaluation, ...]:
    """Replace patterns such as `attack-mr/*` or `*/fast` by the names that they match.

    The order is the study's, then the registry's; a pattern adds no name twice, and one without a match is a
    ValueError. Plain names stay, even unknown or repeated ones, so that the study's own checks can report
    them.

    >>> expand_evaluations(["MR/full", "SUBJ/*"])
    ('MR/full', 'SUBJ/fast', 'SUBJ/full')
    """
    expanded: list[AskedEvaluation] = []
    by_pattern: set[AskedEvaluation] = set()
    for pattern in patterns:
        if not isinstance(pattern, str) or not is_pattern(pattern) or pattern.startswith(MTEB):
            expanded += [] if isinstance(pattern, str) and pattern in by_pattern else [pattern]
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


STAND_INS = {
    **{f"STS{year}": f"STS{year}-orig" for year in range(12, 17)},
    "snli": "snli-subset",
    "mnli": "snli-subset",
    "imdb": "review-polarity",
    "yelp": "uci-labelled",
}
"""Sets in whose place another one is read if it is the one that is there."""
MASKED_LM_TEXTS = ("wiki1m-head", "wikitext2")
"""what minilm-mlm is made of"""
_LISTS = {
    Resource.WORDNET: "wordnet",
    Resource.STOP_WORDS: "wordnet",
    Resource.SYNONYM_LISTS: "counter-fitting",
    Resource.LOOK_ALIKES: "homoglyph",
    Resource.KEYBOARD: "typo",
}
_CHANGES = ("wordnet", "typo", "homoglyph")  # of the texts whose vectors should stay where they are
_GLUE = {name: f"GLUE-{task}" for name, task in OF_GLUE.items()}
_TASKS = {
    **{task: (task.lower(),) for task in ("SNLI", "MNLI", "FEVER", "IMDB", "YELP", "SQuAD")},
    "ANLI": ("anli", "mnli", "snli", "fever"),
}


def sets_of(name: str, settings: Settings) -> tuple[str, ...]:
    """Return the sets that an evaluation reads; none for one on generated data."""
    task, _, preset = name.partition("/")
    attacked = task.removeprefix("attack-")
    words = ("wordnet",) if preset == SYNONYMS or settings.augments else ()
    if attacked in ATTACKED and task != attacked:
        inputs = {**OF_TRANSFER, **_GLUE}.get(attacked, task)
        texts = (inputs, _victim(attacked))
        own = () if attacked in _GLUE and settings.tasks.glue != HUB_NAME else texts
        return (*own, *sets_of_recipe(preset, settings.attacks.masked_lm), *words)
    if task in ADVERSARIAL_STS:
        return (task.removeprefix("Adv"), *sets_of_recipe(preset, settings.attacks.masked_lm))
    if preset in (FINE_TUNED, SYNONYMS):
        return (*_TASKS.get(task, (task,) if settings.tasks.glue == HUB_NAME else ()), *words)
    words = ("wordnet",) if preset in (WEAKENED, PLANE) else ()
    changes = _CHANGES if name == INVARIANCE else words
    return (task, *changes) if task in catalogue() else ()


def sets_of_recipe(recipe: str, masked_lm: str = "") -> tuple[str, ...]:
    """Return the sets that hold the word lists of an attack."""
    needs = RECIPES.get(recipe).needs
    texts = MASKED_LM_TEXTS if Resource.MASKED_LM in needs and masked_lm == "minilm-mlm" else ()
    return (*(_LISTS[need] for need in needs if need in _LISTS), *texts)


def _victim(attacked: str) -> str:
    """Return the set of texts on which the attacked classifier is trained."""
    if attacked in _GLUE:
        return _GLUE[attacked]
    task, _ = ATTACK_SETS.get(attacked)[0]
    return task if task in catalogue() else task.lower()
