"""Sampler and stopping rule of a study: abilities, and classes that it names."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.registry import construct, import_class
from rse_study.search.stopping import RuleByClass, SpacedRule, StoppingRule
from rse_study.spec import hash_file
from rse_study.study.checking import broken_by, trials_rule
from rse_study.study.definition.config import Study
from rse_study.study.definition.parts import Sampler
from rse_study.study.definition.paths import look_up
from rse_study.study.definition.problems import RuleProblems, problems_of
from rse_study.study.definition.rows import Row
from rse_study.study.definition.space import Axis, Space
from rse_study.training.trial import Trial

SLOW_ASK_S = 0.5
"""seconds per proposal from which a user is warned: docs/results/search_samplers.md"""


@dataclass(frozen=True)
class SamplerTraits:
    """Abilities of a sampler, and what it learns from."""

    of_several: bool = True
    """takes several objectives"""
    of_stopped: bool = True
    """learns from trials that are stopped early"""
    has_generations: bool = False
    has_startup: bool = False
    """first proposals are random draws"""
    of_conditions: bool = False
    """takes axes that exist in some trials only"""
    most_trials: int | None = None
    """known trials at which one proposal takes SLOW_ASK_S; None if 2,000 are not enough"""


TRAITS: dict[str, SamplerTraits] = {
    "tpe": SamplerTraits(has_startup=True, of_conditions=True),
    "gp": SamplerTraits(has_startup=True, most_trials=200),
    "cma_es": SamplerTraits(of_several=False, of_stopped=False, has_generations=True),
    "nsga2": SamplerTraits(of_stopped=False, has_generations=True),
    "nsga3": SamplerTraits(of_stopped=False, has_generations=True),
    "random": SamplerTraits(of_conditions=True),
    "quasi_random": SamplerTraits(),
    "grid": SamplerTraits(),
}


@trials_rule
def sampler_of_the_space(study: Study, space: Space[Trial], rows: Sequence[Row]) -> RuleProblems:
    """Refuse a sampler by name that cannot do what a search asks of it."""
    if study.search is not None and study.sampler.class_ is None:
        yield from sampler_problems(study.sampler, space, num_objectives=len(study.all_objectives))


def sampler_problems(sampler: Sampler, space: Space[Any], *, num_objectives: int = 1) -> RuleProblems:
    """Yield what a sampler by name cannot do in a space, with rule and remedy."""
    traits, what = TRAITS[sampler.name], f"sampler.name = {sampler.name!r}"
    if num_objectives > 1 and not traits.of_several:
        rule = f"optimises one objective, and there are {num_objectives}"
        yield what, rule, "Use tpe, gp, nsga2 or nsga3"
    if space.is_conditional and not traits.of_conditions:
        name = next(axis.name for axis in space.axes if axis.parent)
        rule = f"needs every axis in every trial, and search.{name} belongs to some only (`when`)"
        yield what, rule, "Use tpe or random, or leave out `when`"
    if sampler.name == "cma_es" and all(axis.domain.scale == "none" for axis in space.axes):
        rule = "moves numbers, and every axis is a choice: all of them would be drawn at random"
        yield what, rule, "Use tpe, or name an axis of numbers"


def own_sampler(study: Study, folder: Path) -> RuleProblems:
    """Refuse a sampler by class that cannot be made."""
    if study.search is not None and study.sampler.class_ is not None:
        yield from broken_by(partial(construct_sampler, study.sampler, folder, seed=0))


def sampler_warnings(study: Study, folder: Path) -> Iterator[str]:
    """Yield what a reader should know of a search's sampler; `folder` is the study's."""
    sampler, num_trials = study.sampler, study.num_trials
    if sampler.class_ is not None:
        if not takes_seed(sampler_class(sampler, folder)):
            yield f"{sampler.class_} takes no `seed`: its random draws differ in every run"
        return
    traits = TRAITS[sampler.name]
    random = f"all trials are random draws: num_trials {num_trials} <"
    if traits.has_startup and sampler.num_startup > num_trials:
        yield f"{random} num_startup {sampler.num_startup}"
    if traits.has_generations and sampler.population_size >= num_trials:
        yield f"{random}= population_size {sampler.population_size}, the first generation of {sampler.name}"
    if not traits.of_stopped and study.early_stopping is not None:
        yield (
            f"{sampler.name} learns nothing from trials that early_stopping ends, and its generations count the others "
            "only: tpe and gp learn from all"
        )
    if traits.most_trials is not None and num_trials > traits.most_trials:
        yield (
            f"beyond {traits.most_trials} trials a proposal of {sampler.name} takes more than {SLOW_ASK_S:g} s, "
            "and ever more: tpe takes less at 2,000"
        )


def sampler_class(sampler: Sampler, folder: Path) -> type:
    """Return the class that a sampler names."""
    assert sampler.class_ is not None, "a built-in sampler has a name"
    what = f"sampler.class = {sampler.class_!r}"
    return import_class(sampler.class_, what=what, folder=folder, bases=["optuna.samplers.BaseSampler"])


def construct_sampler(sampler: Sampler, folder: Path, seed: int) -> Any:
    """Return a new object of the class, seeded where its constructor takes `seed`."""
    cls, settings = sampler_class(sampler, folder), dict(sampler.settings)
    if takes_seed(cls):
        if "seed" in settings:
            rule = "every proposal has a seed of its own, from the search's"
            raise InputError("sampler.settings.seed", rule=rule, remedy="Use search_seed instead")
        settings["seed"] = seed
    return construct(cls, settings=settings, named=str(sampler.class_), what="sampler.settings")


def takes_seed(cls: type) -> bool:
    """Whether the constructor has a parameter `seed`."""
    return "seed" in inspect.signature(cls).parameters


def source_of(cls: type) -> str:
    """Return the sha256 of the file that defines a class."""
    return hash_file(Path(inspect.getfile(cls)))


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
    yield from _measured_at(rule, study, study.base.budget.amount)


def _measured_at(rule: StoppingRule, study: Study, full: int) -> RuleProblems:
    first, cadences = rule.first, _cadences(study)
    due = " or ".join(f"{name} = {every}" for name, every in cadences.items())
    measured = f"{study.objective.metric!r} is measured at multiples of {due}, and not at"
    lower = f"lower {next(iter(cadences))}"
    missed = [t for t in rule.rungs(full) if all(t % every for every in cadences.values())]
    if first >= full or first in missed:
        why = f"must be < the full budget of {full} steps" if first >= full else f"{measured} this step"
        near = _nearest(full // 2 if first >= full else first, cadences, full)
        remedy = f"Use {near}, or {lower}" if near else lower.capitalize()
        yield f"early_stopping.first = {first}", why, remedy
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
        yield from broken_by(partial(construct_rule, study.early_stopping, folder))


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
