"""The rungs of a study, and what keeps it from having any."""

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.registry import construct, import_class
from rse_study.search.stopping import RuleByClass, SpacedRule, StoppingRule
from rse_study.study.definition.config import Study
from rse_study.study.definition.paths import look_up
from rse_study.study.definition.problems import RuleProblems, problems_of
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial

RULE, PRUNER = "rse_study.search.stopping.StoppingRule", "optuna.pruners.BasePruner"
CADENCE = ("budget", "selection.every", "report_every")  # what decides when a trial is measured


def rungs(study: Study) -> tuple[int, ...]:
    """Return the steps at which a search's cell may be stopped, if any."""
    rule, budget = study.early_stopping, study.base.budget
    return () if rule is None or budget.unit != "steps" else rule.rungs(budget.amount)


def measured_at_rungs(study: Study, space: Space[Trial]) -> RuleProblems:
    """Require that trials are measured at the rungs, below the full budget."""
    rule, unit = study.early_stopping, study.base.budget.unit
    if rule is None or study.search is None:
        return
    if unit != "steps":
        why = f"rungs are optimiser steps, and base.budget is in {unit}"
        yield "early_stopping", why, "Give the budget in steps: `budget: {unit: steps, amount: ...}`"
        return
    first, full, cadences = rule.first, study.base.budget.amount, _cadences(study)
    due = " or ".join(f"{name} = {every}" for name, every in cadences.items())
    measured = f"{study.objective.metric!r} is measured at multiples of {due}, and not at"
    lower = f"lower {next(iter(cadences))}"
    missed = [t for t in rule.rungs(full) if all(t % every for every in cadences.values())]
    if first >= full or first in missed:
        why = f"must be < the full budget of {full} steps" if first >= full else f"{measured} this step"
        near = _nearest(full // 2 if first >= full else first, cadences, full)
        yield (
            f"early_stopping.first = {first}",
            why,
            f"Use {near}, or {lower}" if near else lower.capitalize(),
        )
    elif missed:
        why = f"{measured} the rung at step {missed[0]}"
        if isinstance(rule, SpacedRule) and (every := rule.every) is not None:
            near = min(cadences.values(), key=lambda cadence: abs(cadence - every))
            yield f"early_stopping.every = {every}", why, f"Use {near}, or {lower}"
        else:
            yield "early_stopping", why, lower.capitalize()


def alike_at_rungs(study: Study, space: Space[Trial]) -> RuleProblems:
    """Refuse axes that decide when a trial is measured."""
    if study.early_stopping is None or study.search is None or study.base.budget.unit != "steps":
        return
    for axis in space.axes:
        for path in _moved_measures(axis, space):
            rule = f"early stopping compares trials at the same steps, and this axis moves them ({path})"
            yield f"search.{axis.name}", rule, "Remove it or early_stopping"


def own_rule(study: Study, folder: Path) -> RuleProblems:
    """Refuse a stopping rule by class that cannot be made."""
    if study.search is not None and isinstance(study.early_stopping, RuleByClass):
        try:
            construct_rule(study.early_stopping, folder)
        except InputError as error:
            found = error.problems if isinstance(error, InputErrors) else [error]
            yield from ((one.what, one.rule, one.remedy) for one in found)


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


def _cadences(study: Study) -> dict[str, int]:
    """The fields that say at which steps the objective is measured: the loss in every point, the rest on dev pairs."""
    measurements = {"base.selection.every": study.base.selection.every}
    points = {"base.report_every": study.base.cadence(study.base.budget.amount)}
    return points | measurements if study.objective.metric == "loss" else measurements


def _nearest(wanted: int, cadences: dict[str, int], full: int) -> int | None:
    """The step nearest to `wanted`, below the full budget, at which the objective is measured."""
    near = [every * max(1, wanted // every + up) for every in cadences.values() for up in (0, 1)]
    return min((t for t in near if t < full), key=lambda t: abs(t - wanted), default=None)


def _moved_measures(axis: Axis, space: Space[Trial]) -> list[str]:
    """The fields an axis writes that decide when a trial is measured."""
    if axis.variants:
        trials = [space.apply({axis.name: name}) for name in axis.variants]
        return [f for f in CADENCE if any(look_up(trial, f) != look_up(space.base, f) for trial in trials)]
    return [path for path in axis.paths if any(f"{path}.".startswith(f"{field}.") for field in CADENCE)]
