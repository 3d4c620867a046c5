"""Asynchronous successive halving (Li et al. 2020), stopping variant: a pure function of what the ledger holds."""

import math
from collections.abc import Iterable
from typing import Literal

from rse_study.results.records import Verdict
from rse_study.study.definition.config import Asha


def rungs_of(asha: Asha | None, num_steps: int) -> tuple[int, ...]:
    """Optimiser steps at which a cell may be stopped: first, first * factor, ... below the full budget."""
    if asha is None:
        return ()
    rungs, t = [], asha.first
    while t < num_steps:
        rungs.append(t)
        t *= asha.factor
    return tuple(rungs)


def verdict(
    value: float, others: Iterable[float], factor: int, direction: Literal["maximize", "minimize"]
) -> Verdict:
    """Whether a cell with `value` at a rung goes on, `others` being all values recorded there before.

    It does if it is among the best max(1, floor(n / factor)) of the n that got there, itself included; a tie goes on.
    The first one to arrive therefore always does. A value that is not finite never does.
    """
    if not math.isfinite(value):
        return "stop"
    sign = 1 if direction == "maximize" else -1
    known = [other for other in others if math.isfinite(other)]
    num_better = sum(sign * (other - value) > 0 for other in known)
    return "continue" if num_better < max(1, (len(known) + 1) // factor) else "stop"
