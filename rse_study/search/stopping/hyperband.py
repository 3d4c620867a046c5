"""Hyperband (Li et al. 2018) with asynchronous brackets, as in Li et al. 2020.

The brackets are not run one after the other: each trial belongs to one, by its number and the search seed, and a
bracket stops its trials as `asha` does.
"""

from rse_study.search.stopping.asha import is_among_the_best
from rse_study.search.stopping.draws import bracket_of
from rse_study.search.stopping.rules import Hyperband
from rse_study.search.stopping.trial_at_rung import TrialAtRung


def passes_hyperband(rule: Hyperband, waiting: TrialAtRung) -> bool:
    """Return whether a trial is among the best 1/factor of its bracket."""
    bracket = _bracket(rule, waiting, waiting.trial)
    peers = {trial for trial in waiting.others() if _bracket(rule, waiting, trial) == bracket}
    return is_among_the_best(waiting, rule.factor, peers)


def _bracket(rule: Hyperband, waiting: TrialAtRung, trial: int) -> int:
    return bracket_of(waiting.search_seed, trial, len(waiting.rungs), rule.factor)
