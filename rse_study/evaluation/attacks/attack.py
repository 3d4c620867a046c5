"""An attack's four parts (TextAttack): goal, constraints, transformation, search."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import Goal, VictimOutput

T = TypeVar("T")
QueryGenerator = Generator[Sequence[AttackedText], Sequence[VictimOutput], T]
"""Yields texts and receives one output per text, or fewer once the query budget is spent."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that differs from the one before it in the word at `position`."""

    text: AttackedText
    position: int
    similarity: float = 0.0
    """to the text before; breaks ties between candidates that reach the goal"""


@dataclass(frozen=True)
class SearchResult:
    """A text and the victim's output for it."""

    text: AttackedText
    row: VictimOutput


@runtime_checkable
class Transformation(Protocol):
    """A transformation, which proposes words to put in a word's place."""

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        """Return distinct words; `generator` is fresh for each input and position."""
        ...


@runtime_checkable
class PreTransformationConstraint(Protocol):
    """A constraint on words, which decides which of them may be changed at all."""

    def allows(self, text: AttackedText, position: int) -> bool:
        """Whether the word may be changed, given the changes so far."""
        ...


@runtime_checkable
class Constraint(Protocol):
    """A constraint on candidates, which drops texts that are not good enough."""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        """Return the candidates that pass, which all change one position of `current`."""
        ...


@runtime_checkable
class SearchProblem(Protocol):
    """One input under attack, as a search sees it: scores alone, no randomness."""

    @property
    def original(self) -> AttackedText: ...

    @property
    def clean(self) -> VictimOutput: ...

    def positions(self) -> list[int]: ...

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """Return the texts with another word there that pass all constraints."""
        ...

    def score(self, row: VictimOutput) -> float:
        """Return the goal's score of an output; higher is nearer to the goal."""
        ...

    def stops(self, row: VictimOutput) -> bool: ...


@runtime_checkable
class Search(Protocol):
    """A search method: the order in which words are changed, and what they become."""

    def find(self, problem: SearchProblem) -> QueryGenerator[SearchResult]:
        """Search for the text with the best score, the original included."""
        ...


@dataclass(frozen=True)
class Attack:
    """A complete attack as an `AttackRecipe` builds it."""

    label: str
    """the recipe's name, and which resources of the published attack are replaced"""
    goal: Goal
    transformation: Transformation
    search: Search
    pre_transformation_constraints: tuple[PreTransformationConstraint, ...] = ()
    constraints: tuple[Constraint, ...] = ()
