"""Asynchronous successive halving.

Li et al. 2020, A System for Massively Parallel Hyperparameter Tuning.
"""

from collections.abc import Collection
from typing import Literal

from rse_study.search.stopping.rule import StoppingRule, TrialAtRung, geometric
from rse_study.spec import field


class Asha(StoppingRule):
    """Asynchronous successive halving (Li et al. 2020).

    At each rung a cell goes on if it is among the best 1/factor of all that got there.
    """

    name: Literal["asha"] = "asha"
    """of the rule"""
    factor: int = field(3, ge=2)
    """one in so many goes on; the next rung is so many times as far, below the full budget"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        return geometric(self.first, self.factor, num_steps)

    @property
    def condition(self) -> str:
        return f"among the best 1/{self.factor} so far"

    def passes(self, waiting: TrialAtRung) -> bool:
        return is_among_the_best(waiting, self.factor)


def is_among_the_best(waiting: TrialAtRung, factor: int, among: Collection[int] | None = None) -> bool:
    """Return whether a trial is among the best 1/factor of `among` (default: all).

    True if fewer than max(1, floor(n / factor)) of n trials, itself included, are better. This is the
    stopping variant: a trial never waits for others, as one to be promoted does in the paper.
    """
    others = waiting.others_values(among)
    num_better = sum(waiting.is_better(other, waiting.value) for other in others)
    return num_better < max(1, (len(others) + 1) // factor)
