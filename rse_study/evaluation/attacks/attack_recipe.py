"""The base class of attack recipes, and the resources that they use."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from rse_study.data.lexicons import english_stopwords
from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import (
    UNTARGETED,
    Attack,
    Constraint,
    Goal,
    PreTransformationConstraint,
    Ranking,
    Transformation,
)
from rse_study.evaluation.attacks.search import LeaveOneOut
from rse_study.evaluation.attacks.transformations import Encode, MaskedLM, Sides, word_constraints
from rse_study.spec import Spec

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
