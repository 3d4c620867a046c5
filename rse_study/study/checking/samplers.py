"""Samplers of a study: their abilities, and a class that it names."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.registry import construct, import_class
from rse_study.spec import hash_file
from rse_study.study.checking.rule import trials_rule
from rse_study.study.definition.config import Study
from rse_study.study.definition.problems import RuleProblems
from rse_study.study.definition.rows import Row
from rse_study.study.definition.search import Sampler
from rse_study.study.definition.space import Space
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
        yield (
            what,
            f"optimises one objective, and there are {num_objectives}",
            "Use tpe, gp, nsga2 or nsga3",
        )
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
        try:
            construct_sampler(study.sampler, folder, seed=0)
        except InputError as problem:
            yield problem.what, problem.rule, problem.remedy


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
