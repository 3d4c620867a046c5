"""Attacks in four parts (TextAttack): goal, constraints, transformation, search."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import Goal, VictimOutput

T = TypeVar("T")
QueryGenerator = Generator[Sequence[AttackedText], Sequence[VictimOutput], T]
"""Yields texts, is sent the victim's output for each. Fewer outputs than texts: the budget of queries is spent."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A transformed text: the word at `position` is another than before."""

    text: AttackedText
    position: int
    similarity: float = 0.0
    """with the text before; of two candidates that reach the goal the more similar one is taken"""


@dataclass(frozen=True)
class SearchResult:
    """A text and the victim's output for it."""

    text: AttackedText
    row: VictimOutput


@runtime_checkable
class Transformation(Protocol):
    """The transformation: which words may stand in a word's place."""

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        """Return words, each once, in an order that is the same every time.

        Parameters
        ----------
        text
            What is transformed.
        position
            Of the word that is replaced, from 0.
        generator
            Of whatever is drawn; a fresh one for each input and position.
        """
        ...


@runtime_checkable
class PreTransformationConstraint(Protocol):
    """A constraint on words: which of them may be changed at all."""

    def allows(self, text: AttackedText, position: int) -> bool:
        """Whether the word there may be changed, given what already is."""
        ...


@runtime_checkable
class Constraint(Protocol):
    """A constraint on candidates: which transformed texts are good enough."""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        """Return the candidates that pass, in order.

        Parameters
        ----------
        candidates
            One at least; all change the same position of `current`.
        current
            The text before this change.
        original
            The text before every change.
        """
        ...


@runtime_checkable
class SearchProblem(Protocol):
    """One input under attack, as a search method sees it.

    There is no generator in it: what a search does follows from scores.
    """

    @property
    def original(self) -> AttackedText:
        """The clean text."""
        ...

    @property
    def clean(self) -> VictimOutput:
        """The victim's output for the clean text."""
        ...

    def positions(self) -> list[int]:
        """Words of the original that may be changed, from left to right."""
        ...

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """What the word there may become: whatever passes all constraints."""
        ...

    def score(self, row: VictimOutput) -> float:
        """The goal function's score of an output: the higher, the nearer is the goal."""
        ...

    def stops(self, row: VictimOutput) -> bool:
        """Whether the goal is reached."""
        ...


@runtime_checkable
class Search(Protocol):
    """The search method: in which order words are changed, and to what."""

    def find(self, problem: SearchProblem) -> QueryGenerator[SearchResult]:
        """Search the best text, the original included."""
        ...


@dataclass(frozen=True)
class Attack:
    """A whole attack, ready to run: what an `AttackRecipe` builds."""

    label: str
    """what it is, and which resources of the published one are replaced"""
    goal: Goal
    transformation: Transformation
    search: Search
    pre_transformation_constraints: tuple[PreTransformationConstraint, ...] = ()
    constraints: tuple[Constraint, ...] = ()
