"""Recipes of attacks: their search by words' importance, base class and resources."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

import numpy as np

from rse_study.data.lexicons import english_stopwords
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import (
    UNTARGETED,
    Attack,
    Candidate,
    Constraint,
    Goal,
    PreTransformationConstraint,
    QueryGenerator,
    Ranking,
    SearchResult,
    SingleInput,
    Transformation,
)
from rse_study.evaluation.attacks.transformations import Encode, MaskedLM, Sides, word_constraints
from rse_study.spec import Spec
from rse_study.tensors import Float

UNKNOWN = "[UNK]"
"""put into the text literally; BERT's tokenizers map it to their unknown token"""


class LeaveOneOut(Spec):
    """Ranks words by the score without them: deleted, or replaced by a token."""

    token: str = ""
    """stands in the word's place; empty: the word is deleted"""

    def order(self, problem: SingleInput) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, self.token) for position in positions]
        return by_importance(positions, [problem.score(row) for row in rows])


def by_importance(positions: list[int], importance: Sequence[float]) -> list[int]:
    """Sort positions by importance, stably; return none if outputs are missing."""
    if len(importance) < len(positions):
        return []
    return [positions[i] for i in np.argsort(-np.asarray(importance), kind="stable")]


class WeightedSaliency(Spec):
    """TextAttack's `weighted-saliency` (Ren et al. 2019).

    The softmax of the scores with [UNK] in each word's place, times the best candidate's score.
    """

    def order(self, problem: SingleInput) -> QueryGenerator[list[int]]:
        positions = problem.positions()
        rows = yield [problem.original.replaced(position, UNKNOWN) for position in positions]
        if len(rows) < len(positions):
            return []
        saliency = _softmax(np.array([problem.score(row) for row in rows]))
        best = yield from self._best_scores(problem, positions)
        weights = saliency[: len(best)] * np.array(best)
        return by_importance(positions, weights.tolist())

    def _best_scores(self, problem: SingleInput, positions: list[int]) -> QueryGenerator[list[float]]:
        options = [problem.candidates(problem.original, position) for position in positions]
        rows = yield [candidate.text for each in options for candidate in each]
        if len(rows) < sum(map(len, options)):
            return []
        answers = iter(rows)
        scores = [[problem.score(next(answers)) for _ in each] for each in options]
        return [max(each) if each else 0.0 for each in scores]


def _softmax(values: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    powers = np.exp(values - values.max(initial=-np.inf))
    return powers / powers.sum()


def greedy(problem: SingleInput) -> QueryGenerator[SearchResult]:
    """Visit words by importance, and keep the best candidate of each.

    A candidate must be strictly better. If several reach the goal, the most similar one is taken among those
    ranked above the first that does not (TextAttack's rule; TextFooler's paper considers all that reach it).
    """
    best = SearchResult(problem.original, problem.clean)
    for position in (yield from problem.attack.ranking.order(problem)):
        candidates = problem.candidates(best.text, position)
        rows = yield [candidate.text for candidate in candidates]
        tried = sorted(zip(candidates, rows, strict=False), key=lambda pair: -problem.score(pair[1]))
        if tried and problem.score(tried[0][1]) > problem.score(best.row):
            best = _choice(problem, tried)
            if problem.stops(best.row):
                break
        if len(rows) < len(candidates):
            break
    return best


def _choice(problem: SingleInput, tried: list[tuple[Candidate, Float[np.ndarray, " c"]]]) -> SearchResult:
    """Return the best candidate, or the most similar of the top ones at the goal."""
    chosen, row = tried[0]
    for candidate, answer in tried:
        if not problem.stops(answer):
            break
        if candidate.similarity > chosen.similarity:
            chosen, row = candidate, answer
    return SearchResult(chosen.text, row)


T = TypeVar("T")


class Resource(StrEnum):
    """A resource of recipes; values are part of asset keys on disk and never change."""

    WORDNET = "WordNet"
    STOP_WORDS = "stop words"
    SYNONYM_LISTS = "synonym lists"
    LOOK_ALIKES = "look-alikes"
    KEYBOARD = "keyboard"
    SENTENCE_SIMILARITY = "sentence similarity"
    MASKED_LM = "masked language model"


@dataclass(frozen=True)
class NamedModel(Generic[T]):
    """A model and its name in labels."""

    name: str
    model: T


@dataclass(frozen=True)
class AttackResources:
    """The resources that are available to a recipe; None where there is none."""

    data_dir: Path
    """folder of WordNet, stop words, synonym lists, look-alikes and the keyboard"""
    encoder: NamedModel[Encode] | None = None
    masked_lm: NamedModel[MaskedLM] | None = None

    def need_encoder(self, recipe: str) -> Encode:
        rule = "it filters candidates by the similarity of sentences"
        return _needed(
            self.encoder, "sentence encoder", recipe, rule, "any local encoder serves, such as minilm"
        )

    def need_masked_lm(self, recipe: str) -> MaskedLM:
        rule = "its candidates are what a masked language model predicts"
        return _needed(self.masked_lm, "masked language model", recipe, rule, "any local one serves")


def _needed(given: NamedModel[T] | None, noun: str, recipe: str, rule: str, remedy: str) -> T:
    if given is None:
        raise InputError(f"no {noun}", where=f"recipe {recipe}", rule=rule, remedy=f"Name one: {remedy}")
    return given.model


class AttackRecipe(Spec, ABC):
    """A published attack with its settings, which `build` turns into an `Attack`.

    A new attack is a subclass in a file here and a line in `recipes.py`; names of evaluations,
    checks, fingerprints and the command line follow from it.
    """

    name: ClassVar[str]
    """in evaluations (attack-mr/<name>), on the command line and in every label"""
    needs: ClassVar[tuple[Resource, ...]]
    """all that `build` and the attack take from their resources, and nothing else: it decides fingerprints"""

    sides: Sides = "both"
    """sentences of a pair that may be changed"""

    ranking: ClassVar[Ranking] = LeaveOneOut()
    """the order in which words are changed"""
    notes: ClassVar[tuple[str, ...]] = ()
    """what else differs from the published attack, for the label"""

    @abstractmethod
    def transformation(self, resources: AttackResources) -> Transformation:
        """Return what proposes words; raise InputError where a resource is missing."""

    def constraints(self, resources: AttackResources) -> tuple[Constraint, ...]:
        """Return the constraints on changed texts."""
        return ()

    def word_constraints(self, resources: AttackResources) -> tuple[PreTransformationConstraint, ...]:
        """Return the constraints on words; the recipe must need Resource.STOP_WORDS."""
        # TextFooler and BAE have longer lists of stop words; here all recipes use nltk's.
        return word_constraints(english_stopwords(resources.data_dir), self.sides)

    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        """Build the attack, or raise InputError where a resource is missing."""
        return Attack(
            label=self.label(resources),
            goal=goal,
            transformation=self.transformation(resources),
            ranking=self.ranking,
            pre_transformation_constraints=self.word_constraints(resources),
            constraints=self.constraints(resources),
        )

    def label(self, resources: AttackResources) -> str:
        """Return the name, with what replaces resources of the published attack."""
        sources = (
            ("synonyms", Resource.SYNONYM_LISTS, "the lists of counter-fitting"),
            ("words", Resource.MASKED_LM, resources.masked_lm and resources.masked_lm.name),
            ("similarity", Resource.SENTENCE_SIMILARITY, resources.encoder and resources.encoder.name),
        )
        notes = [f"{what} from {name}" for what, need, name in sources if need in self.needs]
        notes += self.notes
        return f"{self.name}-like: {', '.join(notes)}" if notes else self.name
