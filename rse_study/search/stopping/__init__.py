"""Early stopping of searches: who goes on from a rung.

A verdict is a pure function of what the ledger holds: values at rungs and numbers of trials.
"""

import math
from collections.abc import Callable
from typing import Any

from rse_study.results.records import Verdict
from rse_study.search.stopping.asha import passes_asha
from rse_study.search.stopping.draws import is_let_run
from rse_study.search.stopping.hyperband import passes_hyperband
from rse_study.search.stopping.median import passes_median
from rse_study.search.stopping.rules import Asha, Hyperband, Median, StoppingRule
from rse_study.search.stopping.trial_at_rung import RungValues, TrialAtRung

PASSES: dict[type[StoppingRule], Callable[[Any, TrialAtRung], bool]] = {
    Asha: passes_asha,
    Median: passes_median,
    Hyperband: passes_hyperband,
}
"""By rule: whether a trial goes on."""


def verdict(rule: StoppingRule, waiting: TrialAtRung) -> Verdict:
    """Return what a rule says of a trial at a rung.

    A value that is not finite never goes on. The first one to arrive does, and so does a tie.
    """
    passes = math.isfinite(waiting.value) and PASSES[type(rule)](rule, waiting)
    return "continue" if passes else "stop"


def effective(rule: StoppingRule, search_seed: int, trial: int, value: float, said: Verdict) -> Verdict:
    """Return what becomes of a trial: the verdict, unless it is let run on.

    The ledger has the rule's verdict, so that it can be judged by where the trial ended. Of one whose value is not
    finite nothing can be learnt: it is stopped in any case.

    Parameters
    ----------
    rule
        Of the study.
    search_seed
        Of the study.
    trial
        Its number.
    value
        At the rung.
    said
        The rule's verdict.
    """
    goes_on = math.isfinite(value) and is_let_run(search_seed, trial, rule.let_run)
    return "continue" if goes_on else said


__all__ = ["PASSES", "RungValues", "TrialAtRung", "effective", "verdict"]
