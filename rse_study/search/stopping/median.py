"""The median stopping rule.

Golovin et al. 2017, Google Vizier: A Service for Black-Box Optimization.
"""

from statistics import fmean, median
from typing import Literal

from pydantic import PositiveInt

from rse_study.search.stopping.rule import SpacedRule, TrialAtRung


class Median(SpacedRule):
    """The median stopping rule (Golovin et al. 2017, Google Vizier).

    At each rung a cell is stopped if its best value so far is worse than the median of the others' running averages.
    """

    name: Literal["median"] = "median"
    """of the rule"""
    num_startup: PositiveInt = 5
    """as long as fewer others got to a rung, everything goes on from it"""

    @property
    def condition(self) -> str:
        others = f"once {self.num_startup} others got there"
        return f"its best value is no worse than the median of the others' running averages ({others})"

    def passes(self, waiting: TrialAtRung) -> bool:
        """Compare a trial's best value with the median of the others' running averages.

        The paper (section 3.2.2) stops a trial at step s if its best objective by step s is strictly worse than the
        median of the running averages of all completed trials' objectives reported up to s. Taken here: "reported" is
        what was measured at the rungs up to s, each counting once, without values that are not finite. Another trial
        counts once it has got to rung s, whether it has ended or not: what it was at s does not change any more, and
        the completed ones alone would be the survivors of earlier verdicts.
        """
        averages = [fmean(waiting.course(trial)) for trial in waiting.others()]
        if len(averages) < self.num_startup:
            return True
        own = waiting.course(waiting.trial)
        best = max(own) if waiting.direction == "maximize" else min(own)
        return not waiting.is_better(median(averages), best)
