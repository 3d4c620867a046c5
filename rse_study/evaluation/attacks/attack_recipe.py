"""The base class of attack recipes, and what recipes share."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from rse_study.evaluation.attacks.attack import UNTARGETED, Attack, Goal, PreTransformationConstraint
from rse_study.evaluation.attacks.lexicons import english_stopwords
from rse_study.evaluation.attacks.resources import AttackResources, Resource
from rse_study.evaluation.attacks.transformations import (
    InputColumnModification,
    RepeatModification,
    Sides,
    StopwordModification,
)
from rse_study.spec import Spec


class AttackRecipe(Spec, ABC):
    """A published attack with its settings, which `build` turns into an `Attack`.

    A new attack is a subclass in `recipes/` and a line in `recipes/__init__.py`; names of evaluations,
    checks, fingerprints and the command line follow from it.
    """

    name: ClassVar[str]
    """in evaluations (attack-mr/<name>), on the command line and in every label"""
    needs: ClassVar[tuple[Resource, ...]]
    """all that `build` and the attack take from their resources, and nothing else: it decides fingerprints"""

    sides: Sides = "both"
    """sentences of a pair that may be changed"""

    @abstractmethod
    def build(self, resources: AttackResources, goal: Goal = UNTARGETED) -> Attack:
        """Build the attack, or raise InputError where a resource is missing."""


def word_constraints(resources: AttackResources, sides: Sides) -> tuple[PreTransformationConstraint, ...]:
    """Return the constraints on words; the recipe must need Resource.STOP_WORDS."""
    # TextFooler and BAE have longer lists of stop words; here all recipes use nltk's.
    return (
        RepeatModification(),
        StopwordModification(english_stopwords(resources.data_dir)),
        InputColumnModification(sides),
    )


def label(name: str, replaced: Sequence[str]) -> str:
    """Return the label of a recipe that replaces resources of the published attack."""
    return f"{name}-like: {', '.join(replaced)}"
