"""Asynchronous successive halving.

Li et al. 2020, A System for Massively Parallel Hyperparameter Tuning.
"""

from collections.abc import Collection

from rse_study.search.stopping.rules import Asha
from rse_study.search.stopping.trial_at_rung import TrialAtRung


def passes_asha(rule: Asha, waiting: TrialAtRung) -> bool:
    """Return whether a trial is among the best 1/factor of all that got to the rung."""
    return is_among_the_best(waiting, rule.factor)


def is_among_the_best(waiting: TrialAtRung, factor: int, among: Collection[int] | None = None) -> bool:
    """Return whether a trial is among the best 1/factor.

    It is where fewer than max(1, floor(n / factor)) of n trials are better, itself counted among the n. This is the
    stopping variant: a trial never waits for others to come, as one that is to be promoted does in the paper.

    Parameters
    ----------
    waiting
        The trial.
    factor
        One in so many goes on.
    among
        The others that count; all without it.
    """
    others = waiting.others_values(among)
    num_better = sum(waiting.is_better(other, waiting.value) for other in others)
    return num_better < max(1, (len(others) + 1) // factor)
