"""Goal functions: change the predicted class, or move a similarity score."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
from pydantic import PositiveFloat

from rse_study.errors import InputError
from rse_study.spec import Spec
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


class Deviation(Goal):
    """Succeeds at |s(x') - gold| >= tau; pairs that far off when clean are skipped."""

    tau: PositiveFloat = 1.0

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - gold)

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.score(now, clean, gold) >= self.tau


class Drift(Goal):
    """Succeeds at |s(x') - s(x)| >= tau on the gold scale, right or wrong."""

    tau: PositiveFloat = 1.0

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        return False

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - _only(clean))

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.score(now, clean, gold) >= self.tau


class Maximise(Goal):
    """Moves the score as far as it goes, without early stop; any move is a success."""

    distance: Literal["drift", "deviation"] = "drift"  # from the clean score, or from gold

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        return False

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - (_only(clean) if self.distance == "drift" else gold))

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return False

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.score(now, clean, gold) > self.score(clean, clean, gold)


def _only(row: VictimOutput) -> float:
    if len(row) != 1:
        rule = "goals on a score need a victim that gives one number"
        raise InputError(f"{len(row)} numbers a text", where="the victim", rule=rule)
    return float(row[0])
