"""Whether a study can run: every problem at once, before anything starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rse_study.errors import InputError, InputErrors
from rse_study.study.config import Study
from rse_study.study.flatness import flat_axes, risks_of_saturation
from rse_study.study.reading import read_spec
from rse_study.study.space import Space, check_edges, resolve_space
from rse_study.training.trial import Trial


@dataclass(frozen=True)
class Checked:
    """A study that can run, its space, and what a reader should be warned of."""

    study: Study
    space: Space[Trial]
    warnings: tuple[str, ...]


def read_study(path: Path, overrides: Sequence[str] = ()) -> Checked:
    """The study in a YAML file, checked. Raises InputErrors with every problem found."""
    return check_study(read_spec(Study, path, overrides), where=str(path))


def check_study(study: Study, *, where: str) -> Checked:
    """Paths exist, every edge of the space is a valid trial, nothing is flat by construction."""
    space, problems = resolve_space(study.base, study.search, where=where)
    if not problems:
        problems = check_edges(space, where=where)
    if not problems:
        problems = flat_axes(space, where=where) + _too_many(study, space, where)
    if problems:
        raise InputErrors(problems)
    return Checked(study, space, tuple(_warnings(space)))


def _too_many(study: Study, space: Space[Trial], where: str) -> list[InputError]:
    if study.num_trials <= space.num_points():
        return []
    rule = f"the space has only {space.num_points():.0f} points, and none runs twice"
    return [InputError(f"num_trials = {study.num_trials}", where=where, rule=rule, remedy="Ask for fewer")]


def _warnings(space: Space[Trial]) -> list[str]:
    warnings = risks_of_saturation(space)
    if space.base_point is None:
        warnings.append("the base lies outside the space, so it is not among the trials")
    return warnings
