"""Whether a study can run: every problem at once, before anything starts."""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from rse_study.errors import InputError, InputErrors
from rse_study.study.config import Study
from rse_study.study.domains import AnyDomain, Domain, Int
from rse_study.study.flatness import flat_axes, risks_of_saturation
from rse_study.study.reading import apply_overrides, build, read_extended
from rse_study.study.space import Space, check_edges, resolve_space
from rse_study.training.trial import Trial

AXIS: TypeAdapter[Domain] = TypeAdapter(AnyDomain)


@dataclass(frozen=True)
class Checked:
    """A study that can run, its space, and what a reader should be warned of."""

    study: Study
    space: Space[Trial]
    warnings: tuple[str, ...]


def read_study(path: Path, overrides: Sequence[str] = ()) -> Checked:
    """The study in a YAML file, checked. Raises InputErrors with every problem found."""
    content = read_extended(path)
    apply_overrides(content, overrides)
    try:
        study = build(Study, content, where=str(path))
    except InputErrors as error:
        raise InputErrors([*error.problems, *_problems_of_sound_parts(content, str(path))]) from None
    return check_study(study, where=str(path))


def check_study(study: Study, *, where: str) -> Checked:
    """Paths exist, every edge of the space is a valid trial, nothing is flat by construction."""
    space, problems = resolve_space(study.base, study.search, where=where)
    problems = problems + check_edges(space, where=where)
    if not problems:
        problems = [
            *flat_axes(space, where=where),
            *_too_many(study, space, where),
            *_uneven(study, space, where),
        ]
    if problems:
        raise InputErrors(problems)
    return Checked(study, space, tuple(_warnings(space)))


def _problems_of_sound_parts(content: dict[str, Any], where: str) -> list[InputError]:
    """Problems of the axes that can be read, in a study that has others: a user wants all of them at once."""
    try:
        base = Trial.model_validate(content.get("base"))
    except (ValidationError, InputError):
        return []
    search = content.get("search")
    axes = {}
    for name, axis in search.items() if isinstance(search, dict) else ():
        with contextlib.suppress(ValidationError, InputError):
            axes[str(name)] = AXIS.validate_python(axis)
    space, problems = resolve_space(base, axes, where=where)
    return problems + check_edges(space, where=where)


def _too_many(study: Study, space: Space[Trial], where: str) -> list[InputError]:
    if study.num_trials <= space.num_points():
        return []
    rule = f"the space has only {space.num_points():.0f} points, and none runs twice"
    return [InputError(f"num_trials = {study.num_trials}", where=where, rule=rule, remedy="Ask for fewer")]


def _uneven(study: Study, space: Space[Trial], where: str) -> list[InputError]:
    """Batch sizes the workers cannot share equally; an integer axis would propose some."""
    workers, sizes = study.resources.workers, {study.base.batch_size}
    for axis in space.axes:
        if "batch_size" in axis.paths:
            low, *_, high = axis.domain.edges()
            sizes = set(range(low, high + 1)) if isinstance(axis.domain, Int) else set(axis.domain.edges())
    uneven = sorted(size for size in sizes if size % workers)
    if not uneven:
        return []
    rule = f"must be a multiple of resources.workers = {workers}: each takes an equal share"
    remedy = "Change batch_size (an axis: `choice`) or resources.workers"
    return [InputError(f"batch_size = {uneven[0]}", where=where, rule=rule, remedy=remedy)]


def _warnings(space: Space[Trial]) -> list[str]:
    warnings = risks_of_saturation(space)
    if space.base_point is None:
        warnings.append("the base lies outside the space, so it is not among the trials")
    return warnings
