"""The rungs of a study, and what keeps it from having any."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.named_class import construct, import_class
from rse_study.search.stopping import RuleByClass, SpacedRule, StoppingRule
from rse_study.study.definition.config import Study
from rse_study.study.definition.paths import look_up
from rse_study.study.definition.problems import errors_of, problems_of
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial

RULE, PRUNER = "rse_study.search.stopping.StoppingRule", "optuna.pruners.BasePruner"
CADENCE = ("budget", "selection.every", "report_every")  # what decides when a trial is measured


def rungs(study: Study) -> tuple[int, ...]:
    """Return the steps at which a search's cell may be stopped, if any."""
    rule, budget = study.early_stopping, study.base.budget
    return () if rule is None or budget.unit != "steps" else rule.rungs(budget.amount)


def check_stopping(study: Study, space: Space[Trial], *, where: str) -> list[InputError]:
    """Return what forbids rungs: all trials must measure there, below the full budget."""
    if study.early_stopping is None or study.search is None:
        return []
    if study.base.budget.unit != "steps":
        rule = f"rungs are optimiser steps, and base.budget is in {study.base.budget.unit}"
        remedy = "Give the budget in steps: `budget: {unit: steps, amount: ...}`"
        return [InputError("early_stopping", where=where, rule=rule, remedy=remedy)]
    return [
        *_class_problems(study, where),
        *(_first_rung(study, where) or _later_rungs(study, where)),
        *_axes_that_move_measures(space, where),
    ]


def rule_class(rule: RuleByClass, folder: Path) -> type:
    """Return the class that a rule names."""
    what = f"early_stopping.class = {rule.class_!r}"
    cls = import_class(rule.class_, what=what, folder=folder, bases=[RULE, PRUNER])
    if issubclass(cls, StoppingRule) and cls.rungs_of_trial is not StoppingRule.rungs_of_trial:
        broken = "overrides rungs_of_trial, which only built-in rules may do"
        raise InputError(what, rule=broken, remedy="Take rungs_of_trial away")
    return cls


def construct_rule(rule: RuleByClass, folder: Path) -> Any:
    """Return a new object of the class: a StoppingRule, or a pruner of Optuna."""
    cls, at = rule_class(rule, folder), "early_stopping.settings"
    if not issubclass(cls, StoppingRule):
        return construct(cls, settings=rule.settings, named=rule.class_, what=at)
    try:
        return cls(**rule.shared_with(cls), **rule.settings)
    except ValidationError as error:
        raise InputErrors(problems_of(error, cls, where="", prefix=at)) from error


def _class_problems(study: Study, where: str) -> list[InputError]:
    if not isinstance(study.early_stopping, RuleByClass):
        return []
    try:
        construct_rule(study.early_stopping, Path(where).parent)
    except InputError as error:
        found = error.problems if isinstance(error, InputErrors) else [error]
        return errors_of(((one.what, one.rule, one.remedy) for one in found), where)
    return []


def _first_rung(study: Study, where: str) -> list[InputError]:
    assert study.early_stopping is not None
    first, full = study.early_stopping.first, study.base.budget.amount
    what = f"early_stopping.first = {first}"
    cadences = _cadences(study)
    if first >= full:
        rule, near = f"must be < the full budget of {full} steps", _nearest(full // 2, cadences, full)
    elif _is_measured(first, cadences):
        return []
    else:
        rule = f"{_measured_at(study, cadences)}, and not at this step"
        near = _nearest(first, cadences, full)
    lower = f"lower {next(iter(cadences))}"
    remedy = f"Use {near}, or {lower}" if near else lower.capitalize()
    return [InputError(what, where=where, rule=rule, remedy=remedy)]


def _later_rungs(study: Study, where: str) -> list[InputError]:
    rule, cadences = study.early_stopping, _cadences(study)
    missed = [t for t in rungs(study) if not _is_measured(t, cadences)]
    if not missed:
        return []
    why = f"{_measured_at(study, cadences)}, and not at the rung at step {missed[0]}"
    lower = f"lower {next(iter(cadences))}"
    if not isinstance(rule, SpacedRule) or rule.every is None:
        return [InputError("early_stopping", where=where, rule=why, remedy=lower.capitalize())]
    every = rule.every
    near = min(cadences.values(), key=lambda cadence: abs(cadence - every))
    return errors_of([(f"early_stopping.every = {every}", why, f"Use {near}, or {lower}")], where)


def _is_measured(t: int, cadences: dict[str, int]) -> bool:
    return any(t % every == 0 for every in cadences.values())


def _measured_at(study: Study, cadences: dict[str, int]) -> str:
    due = " or ".join(f"{name} = {every}" for name, every in cadences.items())
    return f"{study.objective.metric!r} is measured at multiples of {due}"


def _cadences(study: Study) -> dict[str, int]:
    """The fields that say at which steps the objective is measured: the loss in every point, the rest on dev pairs."""
    measurements = {"base.selection.every": study.base.selection.every}
    points = {"base.report_every": study.base.cadence(study.base.budget.amount)}
    return points | measurements if study.objective.metric == "loss" else measurements


def _nearest(wanted: int, cadences: dict[str, int], full: int) -> int | None:
    """The step nearest to `wanted`, below the full budget, at which the objective is measured."""
    near = [every * max(1, wanted // every + up) for every in cadences.values() for up in (0, 1)]
    return min((t for t in near if t < full), key=lambda t: abs(t - wanted), default=None)


def _axes_that_move_measures(space: Space[Trial], where: str) -> list[InputError]:
    rule = "early stopping compares trials at the same steps, and this axis moves them ({})"
    found = ((axis.name, path) for axis in space.axes for path in _moved_measures(axis, space))
    remedy = "Remove it or early_stopping"
    return errors_of(((f"search.{name}", rule.format(path), remedy) for name, path in found), where)


def _moved_measures(axis: Axis, space: Space[Trial]) -> list[str]:
    """The fields an axis writes that decide when a trial is measured."""
    if axis.variants:
        trials = [space.apply({axis.name: name}) for name in axis.variants]
        return [f for f in CADENCE if any(look_up(trial, f) != look_up(space.base, f) for trial in trials)]
    return [path for path in axis.paths if any(f"{path}.".startswith(f"{field}.") for field in CADENCE)]
