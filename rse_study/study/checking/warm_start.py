"""Checks of a study's warm start."""

from collections.abc import Mapping
from typing import Any

from rse_study.errors import InputError
from rse_study.registry import did_you_mean
from rse_study.study.checking.edges import problems_at
from rse_study.study.checking.rule import RuleProblems, errors_of
from rse_study.study.definition.config import Study
from rse_study.study.definition.search import WarmStart
from rse_study.study.definition.space import Space
from rse_study.training.trial import Trial

LEARN_NOTHING = ("random", "quasi_random", "grid")


def warm_start_problems(study: Study, space: Space[Trial], *, where: str) -> list[InputError]:
    """Return every problem of a search's warm start."""
    warm = study.warm_start
    if warm is None or study.search is None:
        return []
    found = [*_problems(study, warm, space)]
    for index, point in enumerate(warm.trials):
        at = f"warm_start.trials.{index}"
        of_point = [(f"{at}{name}", rule, remedy) for name, rule, remedy in _problems_of_point(space, point)]
        found += of_point or _listed_twice(warm, space, index)
    return errors_of(found, where) or [
        one for point in warm.trials for one in problems_at(space, space.completed(point), where)
    ]


def _problems(study: Study, warm: WarmStart, space: Space[Trial]) -> RuleProblems:
    if not warm.study and not warm.trials:
        yield "warm_start", "knows nothing", "Name a study of the same store, or list trials"
    if warm.study == study.name:
        rule = "is this study itself, which goes on anyway"
        yield f"warm_start.study = {warm.study!r}", rule, "Name another one"
    if warm.study and study.sampler.name in LEARN_NOTHING:
        rule = f"has no effect: {study.sampler.name} does not learn from trials"
        yield f"warm_start.study = {warm.study!r}", rule, "Use another sampler, or list trials"
    num_first = (space.base_point is not None) + len(warm.trials) + bool(warm.study)
    if num_first > study.num_trials:
        rule = f"must be >= {num_first}: the base, what is listed and the best that is known run first"
        yield f"num_trials = {study.num_trials}", rule, "Ask for more, or list fewer"


def _problems_of_point(space: Space[Trial], point: Mapping[str, Any]) -> RuleProblems:
    axes, whole = {axis.name: axis for axis in space.axes}, space.completed(point)
    for name, value in point.items():
        if name not in axes:
            yield f".{name}", "no such axis", did_you_mean(name, axes)
        elif not axes[name].domain.holds(value):
            yield f".{name} = {value!r}", "lies outside the axis", "Use a value of it, or widen the axis"
        elif name not in whole:
            yield f".{name}", f"belongs to another {axes[name].parent} than the point has", "Remove it"
    for name, axis in axes.items():
        if axis.is_active(whole) and name not in whole:
            has_none = (
                f"the base has none: it belongs to {axis.parent} = {whole[axis.parent]}"
                if axis.parent
                else ("the base is no point of the space")
            )
            yield "", f"{name} has no value, and {has_none}", f"Give a value of {name}"


def _listed_twice(warm: WarmStart, space: Space[Trial], index: int) -> RuleProblems:
    before = [space.base_point, *(space.completed(point) for point in warm.trials[:index])]
    if space.completed(warm.trials[index]) in before:
        rule = "is listed twice, or is the base, which runs first anyway"
        yield f"warm_start.trials.{index}", rule, "Remove it"
