"""An attack in four parts, as TextAttack formulates it: goal x constraints x transformation x search."""

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from rse_study.evaluation.attacks.attacked_text import AttackedText
from rse_study.evaluation.attacks.goals import Goal, VictimOutput

T = TypeVar("T")
Asking = Generator[Sequence[AttackedText], Sequence[VictimOutput], T]
"""Yields texts, is sent the victim's answer to each. Fewer answers than texts: the budget is spent."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One way on: a text in which the word at `position` is another. Similar ones are preferred among successes."""

    worded: AttackedText
    position: int
    similarity: float = 0.0


@dataclass(frozen=True)
class SearchResult:
    """A text and what the victim says of it."""

    worded: AttackedText
    row: VictimOutput


@runtime_checkable
class Transformation(Protocol):
    """Other words for a word."""

    def replacements(self, worded: AttackedText, position: int, draw: np.random.Generator) -> list[str]:
        """Words, each once, in an order that is the same every time. `draw` is fresh for each input and position."""
        ...


@runtime_checkable
class PositionRule(Protocol):
    """Which words may be changed at all."""

    def allows(self, worded: AttackedText, position: int) -> bool:
        """Whether the word there may be changed, given what already is."""
        ...


@runtime_checkable
class CandidateRule(Protocol):
    """Which changed texts are good enough."""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        """Those that pass, in order. All change the same position of `current`; there is one at least."""
        ...


@runtime_checkable
class SearchProblem(Protocol):
    """One input under attack, as a search sees it."""

    @property
    def original(self) -> AttackedText:
        """The clean text."""
        ...

    @property
    def clean(self) -> VictimOutput:
        """What the victim says of it."""
        ...

    def positions(self) -> list[int]:
        """Words of the original that may be changed, from left to right."""
        ...

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """What the word there may become."""
        ...

    def score(self, row: VictimOutput) -> float:
        """How near the goal is."""
        ...

    def stops(self, row: VictimOutput) -> bool:
        """Whether the goal is reached."""
        ...


@runtime_checkable
class Search(Protocol):
    """In which order words are changed, and to what."""

    def find(self, problem: SearchProblem) -> Asking[SearchResult]:
        """The best text found, the original included."""
        ...


@dataclass(frozen=True)
class Recipe:
    """A whole attack. `label` says what it is, and which resources of the published one are replaced."""

    label: str
    goal: Goal
    transformation: Transformation
    search: Search
    position_rules: tuple[PositionRule, ...] = ()
    candidate_rules: tuple[CandidateRule, ...] = ()
