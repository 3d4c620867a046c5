"""How many trials of a search are expected to get past which rung.

The figures are those of verdicts that stop as many as the rule is after: the least that can be hoped for. Trials that
come early pass more easily.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

from rse_study.search.stopping.draws import bracket_sizes
from rse_study.search.stopping.rules import Asha, Hyperband, Median, StoppingRule
from rse_study.study.planning.cost_model import WHOLE
from rse_study.study.planning.estimates import Range


def stopped_share(rule: StoppingRule | None, rungs: Sequence[int], num_steps: int, num_trials: int) -> Range:
    """Return the share of its steps that a cell runs under early stopping.

    Low: by `shares_past`. High: nothing is stopped. The truth lies between; mid is their mean.

    Parameters
    ----------
    rule
        None: every cell runs to its end.
    rungs
        Steps at which a cell may be stopped.
    num_steps
        Of the full budget.
    num_trials
        Of the search.
    """
    if rule is None or not rungs:
        return WHOLE
    shares = [1.0, *shares_past(rule, len(rungs), num_trials)]
    legs = zip(shares, pairwise([0, *rungs, num_steps]), strict=True)
    expected = sum(share * (end - start) for share, (start, end) in legs) / num_steps
    return Range(expected, (expected + 1) / 2, 1.0)


def shares_past(rule: StoppingRule, num_rungs: int, num_trials: int) -> list[float]:
    """Return the least share of trials that is expected to go on from each rung.

    Parameters
    ----------
    rule
        Of early stopping.
    num_rungs
        Of the study.
    num_trials
        Of the search.
    """
    judged = SHARES[type(rule)](rule, num_rungs, num_trials)
    return [rule.let_run + (1 - rule.let_run) * share for share in judged]


def _asha(rule: Asha, num_rungs: int, num_trials: int) -> list[float]:
    """One in `factor` passes each rung."""
    return [rule.factor**-passed for passed in range(1, num_rungs + 1)]


def _median(rule: Median, num_rungs: int, num_trials: int) -> list[float]:
    """The first `num_startup` at a rung pass it, and half of the others: best values are seldom below averages."""
    shares, left = [], float(num_trials)
    for _ in range(num_rungs):
        free = min(left, rule.num_startup)
        left = free + (left - free) / 2
        shares.append(left / num_trials)
    return shares


def _hyperband(rule: Hyperband, num_rungs: int, num_trials: int) -> list[float]:
    """In each bracket one in `factor` passes each of its rungs; what it does not have, all of them pass."""
    sizes = bracket_sizes(num_rungs, rule.factor)
    return [
        sum(size * rule.factor ** -max(0, rung - bracket + 1) for bracket, size in enumerate(sizes))
        / sum(sizes)
        for rung in range(num_rungs)
    ]


SHARES: dict[type[StoppingRule], Callable[[Any, int, int], list[float]]] = {
    Asha: _asha,
    Median: _median,
    Hyperband: _hyperband,
}
"""By rule: the share of the trials that goes on from each rung, those that are let run on aside."""
