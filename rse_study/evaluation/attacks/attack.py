"""An attack's parts (TextAttack): goal, constraints, transformation, ranking."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import asdict, dataclass
from math import fsum, nan
from typing import Any, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from pydantic import PositiveFloat

from rse_study.data.labelled import Text
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText
from rse_study.spec import Spec
from rse_study.streams import Streams
from rse_study.tensors import Float

VictimOutput = Float[np.ndarray, " c"]
"""The victim's probabilities, or single score, for one text."""

Gold = int | float


class Goal(Spec, ABC):
    """A goal function of the victim's outputs for the current and the clean text."""

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the clean text is wrong already, so that there is nothing to attack."""
        return self.stops(clean, clean, gold)

    @abstractmethod
    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        """Return how near the goal is; higher is nearer."""

    @abstractmethod
    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the search may end here."""

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the attack counts as a success if it ends here."""
        return self.stops(now, clean, gold)


class Untargeted(Goal):
    """Succeeds on any class but gold (score 1 - p(gold)); wrong inputs are skipped."""

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        if not 0 <= gold < len(clean) or len(clean) < 2:
            rule = "a victim gives one probability for each class, two at least"
            raise InputError(f"{len(clean)} probabilities, label {gold:g}", where="the victim", rule=rule)
        return super().skips(clean, gold)

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return 1.0 - float(now[int(gold)])

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return int(now.argmax()) != gold


UNTARGETED = Untargeted()


class Move(Goal):
    """Moves a score by `tau` or more, from gold or from the clean score.

    A pair that is so far from gold when it is clean is skipped. Without `tau` the score moves as far as it goes, and
    any move is a success.
    """

    distance: Literal["deviation", "drift"] = "deviation"
    """from gold, or from the clean score"""
    tau: PositiveFloat | None = 1.0
    """on the gold scale"""

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - (gold if self.distance == "deviation" else _only(clean)))

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.tau is not None and self.score(now, clean, gold) >= self.tau

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        least = self.score(clean, clean, gold)
        return self.stops(now, clean, gold) if self.tau else self.score(now, clean, gold) > least


def _only(row: VictimOutput) -> float:
    if len(row) != 1:
        rule = "goals on a score need a victim that gives one number"
        raise InputError(f"{len(row)} numbers a text", where="the victim", rule=rule)
    return float(row[0])


AttackVerdict = Literal["succeeded", "failed", "skipped"]


@dataclass(frozen=True)
class AttackOutcome:
    """The outcome of an attack on one input: one line in the file of outcomes."""

    index: int
    original: Text
    adversarial: Text
    """the best text found, even if it misses the goal; the original if skipped"""
    outcome: AttackVerdict
    label: Gold
    original_scores: tuple[float, ...]
    adversarial_scores: tuple[float, ...]
    num_queries: int
    num_words: int
    changed: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()
        }


@dataclass(frozen=True)
class Summary:
    """Figures of an attack; shares are 0..1, NaN where the denominator is 0."""

    num_inputs: int
    num_skipped: int
    num_succeeded: int
    num_failed: int
    original_accuracy: float
    """share of inputs that were not skipped"""
    accuracy_under_attack: float
    """share of inputs on which the attack failed"""
    success_rate: float
    """successes / (successes + failures)"""
    mean_queries: float
    """over inputs that were not skipped"""
    share_of_words_changed: float
    """mean over successes"""


def summarise(outcomes: Iterable[AttackOutcome]) -> Summary:
    """Summarise outcomes, one per input, in any order."""
    rows = sorted(outcomes, key=lambda row: row.index)
    attacked = [row for row in rows if row.outcome != "skipped"]
    succeeded = [row for row in attacked if row.outcome == "succeeded"]
    num_failed = len(attacked) - len(succeeded)
    return Summary(
        num_inputs=len(rows),
        num_skipped=len(rows) - len(attacked),
        num_succeeded=len(succeeded),
        num_failed=num_failed,
        original_accuracy=_share(len(attacked), len(rows)),
        accuracy_under_attack=_share(num_failed, len(rows)),
        success_rate=_share(len(succeeded), len(attacked)),
        mean_queries=_mean([row.num_queries for row in attacked]),
        share_of_words_changed=_mean([len(row.changed) / row.num_words for row in succeeded]),
    )


def _share(part: int, whole: int) -> float:
    return part / whole if whole else nan


def _mean(values: Sequence[int | float]) -> float:
    return fsum(values) / len(values) if values else nan


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


PreTransformationConstraint = Callable[[AttackedText, int], bool]
"""Says whether the word at a position may be changed, given the changes so far."""


@runtime_checkable
class Constraint(Protocol):
    """A constraint on candidates, which drops texts that are not good enough."""

    def keep(
        self, candidates: Sequence[Candidate], current: AttackedText, original: AttackedText
    ) -> Sequence[Candidate]:
        """Return the candidates that pass, which all change one position of `current`."""


@runtime_checkable
class Ranking(Protocol):
    """An order of words by importance, in which the search changes them."""

    def order(self, problem: "SingleInput") -> QueryGenerator[list[int]]:
        """Return positions, most important first; none if the query budget ran out."""


@dataclass(frozen=True)
class Attack:
    """A complete attack as an `AttackRecipe` builds it."""

    label: str
    """the recipe's name, and which resources of the published attack are replaced"""
    goal: Goal
    transformation: Transformation
    ranking: Ranking
    pre_transformation_constraints: tuple[PreTransformationConstraint, ...] = ()
    constraints: tuple[Constraint, ...] = ()


@dataclass(frozen=True)
class Target:
    """One input to attack."""

    index: int
    """identifies the input, and seeds its draws"""
    text: Text
    gold: Gold


@dataclass(frozen=True, eq=False)
class SingleInput:
    """One input under attack, as a search sees it: scores alone, no randomness."""

    attack: Attack
    target: Target
    streams: Streams
    original: AttackedText
    clean: VictimOutput

    def positions(self) -> list[int]:
        return [position for position in range(len(self.original)) if self._may(self.original, position)]

    def candidates(self, current: AttackedText, position: int) -> Sequence[Candidate]:
        """Transform the word; its draws depend on seed, input and position alone."""
        if not self._may(current, position):
            return []
        generator = self.streams.numpy("attack", self.target.index, position)
        words = self.attack.transformation.replacements(current, position, generator)
        passed: Sequence[Candidate] = [
            Candidate(current.replaced(position, word), position) for word in words
        ]
        for constraint in self.attack.constraints:
            passed = constraint.keep(passed, current, self.original) if passed else passed
        return passed

    def score(self, row: VictimOutput) -> float:
        return self.attack.goal.score(row, self.clean, self.target.gold)

    def stops(self, row: VictimOutput) -> bool:
        return self.attack.goal.stops(row, self.clean, self.target.gold)

    def _may(self, text: AttackedText, position: int) -> bool:
        rules = self.attack.pre_transformation_constraints
        return all(allows(text, position) for allows in rules)
