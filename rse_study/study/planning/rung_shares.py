"""The share of its steps that a cell runs under early stopping."""

from collections.abc import Sequence
from itertools import pairwise

from rse_study.search.stopping import StoppingRule
from rse_study.study.planning.cost_model import WHOLE
from rse_study.study.planning.estimates import Range


def stopped_share(rule: StoppingRule | None, rungs: Sequence[int], num_steps: int, num_trials: int) -> Range:
    """Return the share of its steps that a cell runs.

    Low: `StoppingRule.shares_past`, the least that can be hoped for. High: nothing is stopped. Mid is their mean.
    """
    if rule is None or not rungs:
        return WHOLE
    shares = [1.0, *rule.shares_past(len(rungs), num_trials)]
    legs = zip(shares, pairwise([0, *rungs, num_steps]), strict=True)
    expected = sum(share * (end - start) for share, (start, end) in legs) / num_steps
    return Range(expected, (expected + 1) / 2, 1.0)
