"""Optuna's distributions of our axes, and its states of our trials."""

from typing import Any

from optuna.distributions import BaseDistribution, CategoricalDistribution, FloatDistribution, IntDistribution
from optuna.trial import TrialState

from rse_study.results.study_record import AxisRecord
from rse_study.study.definition.domains import Domain

STATES = {
    "planned": TrialState.WAITING,
    "running": TrialState.RUNNING,
    "complete": TrialState.COMPLETE,
    "stopped_early": TrialState.PRUNED,  # a cell's word
    "pruned": TrialState.PRUNED,  # an observation's word
    "failed": TrialState.FAIL,
}


def distribution_of(axis: Domain | AxisRecord) -> BaseDistribution:
    """Return the distribution of an axis of a study file, or of one on record."""
    kind: str
    ends: tuple[Any, ...]
    if isinstance(axis, AxisRecord):
        kind, ends, choices = "log" if axis.log else axis.kind, (axis.low, axis.high), axis.choices
    else:
        kind, ends = axis.kind, axis.edges()
        choices = tuple(axis.values()) if axis.scale == "none" else ()
    if choices:
        return CategoricalDistribution(choices)
    low, high = ends
    if kind == "int":
        return IntDistribution(int(low), int(high))
    return FloatDistribution(low, high, log=kind == "log")
