"""Goal functions: another class, or a similarity score that is far off."""

from typing import Literal, Protocol, runtime_checkable

import numpy as np
from pydantic import PositiveFloat

from rse_study.errors import InputError
from rse_study.spec import Spec
from rse_study.tensors import Float

VictimOutput = Float[np.ndarray, " c"]
"""What a victim says of one text: probabilities, or one score."""

Gold = int | float
"""The gold class, or the gold score."""


@runtime_checkable
class Goal(Protocol):
    """A goal function: what counts as success, and how near it is.

    Pure functions of the victim's outputs and of the gold class or score.
    """

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the clean text is wrong already, so that nothing is left to attack."""
        ...

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        """How near the goal is: the higher, the nearer.

        Parameters
        ----------
        now
            The victim's output for the text as it is now.
        clean
            Its output for the clean text.
        gold
            The gold class, or the gold score.
        """
        ...

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the search may end here.

        Parameters
        ----------
        now
            The victim's output for the text as it is now.
        clean
            Its output for the clean text.
        gold
            The gold class, or the gold score.
        """
        ...

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        """Whether the attack counts as a success if it ends here.

        Parameters
        ----------
        now
            The victim's output for the text as it is now.
        clean
            Its output for the clean text.
        gold
            The gold class, or the gold score.
        """
        ...


class Untargeted(Spec):
    """The victim names any class but the gold one: score = 1 - p(gold) in float64.

    An input whose clean prediction is wrong is skipped.
    """

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        if not 0 <= gold < len(clean) or len(clean) < 2:
            rule = "a victim gives one probability for each class, two at least"
            raise InputError(f"{len(clean)} probabilities, label {gold:g}", where="the victim", rule=rule)
        return self.stops(clean, clean, gold)

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return 1.0 - float(now[int(gold)])

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return int(now.argmax()) != gold

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.stops(now, clean, gold)


UNTARGETED = Untargeted()


class Deviation(Spec):
    """The score leaves gold: |s(x') - gold| >= tau on the gold scale.

    An input whose clean score is that far off is skipped.
    """

    tau: PositiveFloat = 1.0

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        return self.stops(clean, clean, gold)

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - gold)

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.score(now, clean, gold) >= self.tau

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.stops(now, clean, gold)


class Drift(Spec):
    """The score moves: |s(x') - s(x)| >= tau on the gold scale, right or wrong.

    Nothing is skipped.
    """

    tau: PositiveFloat = 1.0

    def skips(self, clean: VictimOutput, gold: Gold) -> bool:
        return False

    def score(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> float:
        return abs(_only(now) - _only(clean))

    def stops(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.score(now, clean, gold) >= self.tau

    def succeeds(self, now: VictimOutput, clean: VictimOutput, gold: Gold) -> bool:
        return self.stops(now, clean, gold)


class Maximise(Spec):
    """The score moves as far as it goes, with no early stop.

    Any move counts as a success, and the distance is the result.
    """

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
