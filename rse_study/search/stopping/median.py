"""The median stopping rule.

Golovin et al. 2017, Google Vizier: A Service for Black-Box Optimization.
"""

from statistics import fmean, median

from rse_study.search.stopping.rules import Median
from rse_study.search.stopping.trial_at_rung import TrialAtRung


def passes_median(rule: Median, waiting: TrialAtRung) -> bool:
    """Return whether a trial's best value is no worse than the others' median.

    That is the median of their running averages. The paper (section 3.2.2): stop at step s if the trial's best
    objective by step s is strictly worse than the median of the running averages of all completed trials' objectives
    reported up to s. Taken here: "reported" is what was measured at the rungs up to s, each counting once, and values
    that are not finite do not count. Another trial counts once it has got to rung s, whether it has ended or not: what
    it was at s does not change any more, and the completed ones alone would be the survivors of earlier verdicts. With
    fewer than `num_startup` of them everything goes on.
    """
    averages = [fmean(waiting.course(trial)) for trial in waiting.others()]
    if len(averages) < rule.num_startup:
        return True
    own = waiting.course(waiting.trial)
    best = max(own) if waiting.direction == "maximize" else min(own)
    return not waiting.is_better(median(averages), best)
