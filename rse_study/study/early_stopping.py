"""Asynchronous successive halving (Li et al. 2020), for studies that can use it.

The verdict at a rung is a pure function of what the ledger holds.
"""

import math
from collections.abc import Iterable
from typing import Literal

from rse_study.errors import InputError
from rse_study.results.records import Verdict
from rse_study.study.definition.config import Asha, Study
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

CADENCE = ("budget", "selection.every", "report_every")  # what decides when a trial is measured


def rungs_of(asha: Asha | None, num_steps: int) -> tuple[int, ...]:
    """Return the optimiser steps at which a cell may be stopped.

    They are first, first * factor, ... below the full budget.

    >>> rungs_of(Asha(first=15, factor=2), 60)
    (15, 30)
    """
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
    """Decide whether a cell goes on from a rung.

    It does if it is among the best max(1, floor(n / factor)) of the n that got there, itself included; a tie goes on.
    The first one to arrive therefore always does. A value that is not finite never does.

    >>> verdict(3.0, [1.0, 2.0, 4.0], 2, "maximize"), verdict(1.5, [1.0, 2.0, 4.0], 2, "maximize")
    ('continue', 'stop')

    Parameters
    ----------
    value
        Of the cell at the rung.
    others
        All values recorded there before.
    factor
        One in so many goes on.
    direction
        Which values are better.
    """
    if not math.isfinite(value):
        return "stop"
    sign = 1 if direction == "maximize" else -1
    finite = [other for other in others if math.isfinite(other)]
    num_better = sum(sign * (other - value) > 0 for other in finite)
    return "continue" if num_better < max(1, (len(finite) + 1) // factor) else "stop"


def rungs(study: Study) -> tuple[int, ...]:
    """Return the steps at which a cell of the search may be stopped.

    None without early stopping.
    """
    base = study.base.budget
    return () if base.unit != "steps" else rungs_of(study.early_stopping, base.amount)


def check_stopping(study: Study, space: Space[Trial], *, where: str) -> list[InputError]:
    """Return what keeps a search from being stopped early.

    Rungs must lie below the budget, at steps where the objective is measured, at the same steps in every trial.

    Parameters
    ----------
    study, space
        The search.
    where
        The file, named in problems.
    """
    if study.early_stopping is None or study.search is None:
        return []
    if study.base.budget.unit != "steps":
        rule = "rungs are optimiser steps, and base.budget is in epochs"
        remedy = "Give the budget in steps: `budget: {unit: steps, amount: ...}`"
        return [InputError("early_stopping", where=where, rule=rule, remedy=remedy)]
    return [*_first_rung(study, where), *_axes_that_move_measures(space, where)]


def _first_rung(study: Study, where: str) -> list[InputError]:
    assert study.early_stopping is not None
    first, full = study.early_stopping.first, study.base.budget.amount
    what = f"early_stopping.first = {first}"
    cadences = _cadences(study)
    if first >= full:
        rule, near = f"must be < the full budget of {full} steps", _nearest(full // 2, cadences, full)
    elif any(first % every == 0 for every in cadences.values()):
        return []  # the other rungs are multiples of the first
    else:
        due = " or ".join(f"{name} = {every}" for name, every in cadences.items())
        rule = f"{study.objective.metric!r} is measured at multiples of {due}, and not at this step"
        near = _nearest(first, cadences, full)
    lower = f"lower {next(iter(cadences))}"
    remedy = f"Use {near}, or {lower}" if near else lower.capitalize()
    return [InputError(what, where=where, rule=rule, remedy=remedy)]


def _cadences(study: Study) -> dict[str, int]:
    """The fields that say at which steps the objective is measured: the loss in every point, the rest on dev pairs."""
    measurements = {"base.selection.every": study.base.selection.every}
    points = {"base.report_every": study.base.report_every}
    return points | measurements if study.objective.metric == "loss" else measurements


def _nearest(wanted: int, cadences: dict[str, int], full: int) -> int | None:
    """The step nearest to `wanted`, below the full budget, at which the objective is measured."""
    near = [every * max(1, wanted // every + up) for every in cadences.values() for up in (0, 1)]
    return min((t for t in near if t < full), key=lambda t: abs(t - wanted), default=None)


def _axes_that_move_measures(space: Space[Trial], where: str) -> list[InputError]:
    rule = "early stopping compares trials at the same steps, and this axis moves them ({})"
    return [
        InputError(
            f"search.{axis.name}", where=where, rule=rule.format(path), remedy="Remove it or early_stopping"
        )
        for axis in space.axes
        for path in axis.paths
        if any(f"{path}.".startswith(f"{field}.") for field in CADENCE)
    ]
