"""Check of a space's edges: each must be a valid trial."""

import math
from collections.abc import Iterator
from itertools import combinations, islice, product
from typing import Any, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec, show_setting
from rse_study.study.definition.problems import joined, problems_of
from rse_study.study.definition.space import Space

T = TypeVar("T", bound=Spec)
MAX_PAIRS = 5_000  # take half a second
MAX_CORNERS = 64


def check_edges(space: Space[T], *, where: str) -> list[InputError]:
    """Return each problem at the edges of the space once, at the axes it comes from."""
    problems = {
        f"{problem.what} {problem.rule}": problem
        for axis in space.parents
        for value in axis.domain.edges()
        for problem in problems_at(space, {axis.name: value}, where)
    }
    if problems:
        return list(problems.values())
    said: dict[str, InputError] = {}
    try:
        for point, branch in space.branches():
            for key, problem in _problems_of_branch(space, point, branch, where).items():
                said.setdefault(key, problem)  # once, at the first values of the parents
    except (ValidationError, InputError):  # two parents' values that exclude each other
        return _problems_of_parents(space, where)
    return list(said.values())


def _problems_of_parents(space: Space[T], where: str) -> list[InputError]:
    points = product(*(axis.domain.edges() for axis in space.parents))
    names = [axis.name for axis in space.parents]
    found = (problems_at(space, dict(zip(names, values, strict=True)), where) for values in points)
    return next(problems for problems in found if problems)


def _problems_of_branch(
    space: Space[T], parents: dict[str, Any], branch: Space[T], where: str
) -> dict[str, InputError]:
    """Return problems by text, of the axes in the branch that the values `parents` lead to."""
    found: dict[str, InputError] = {}
    broken: set[str] = set()

    def note(point: dict[str, Any]) -> None:
        for problem in problems_at(space, parents | point, where):
            found.setdefault(problem.rule if len(point) > 2 else f"{_shown(point)} {problem.rule}", problem)
            broken.update(point if len(point) == 1 else ())

    for axis in branch.axes:
        for value in axis.domain.edges():
            note({axis.name: value})
    alone = frozenset(broken)
    for point in _beyond_edges(branch):
        # Skip points that would only repeat the problem of one or two of their axes.
        if not (alone & set(point) or (len(point) > 2 and found)):
            note(point)
    return found


def _beyond_edges(space: Space[T]) -> Iterator[dict[str, Any]]:
    """Yield points inside continuous axes, then pairs of edges and corners, which may break only together."""
    yield from _insides(space)
    yield from islice(_pairs(space), MAX_PAIRS)
    if math.prod(len(axis.domain.edges()) for axis in space.axes) <= MAX_CORNERS:
        names = [axis.name for axis in space.axes]
        corners = product(*(axis.domain.edges() for axis in space.axes))
        yield from (dict(zip(names, values, strict=True)) for values in corners)
    else:
        yield from (point for point in space.edges() if len(point) > 1)


def _pairs(space: Space[T]) -> Iterator[dict[str, Any]]:
    for one, other in combinations(space.axes, 2):
        for first, second in product(one.domain.edges(), other.domain.edges()):
            yield {one.name: first, other.name: second}


def _insides(space: Space[T]) -> Iterator[dict[str, Any]]:
    """Yield a point inside each continuous axis: an integer field takes its ends, such as 1.0, only."""
    for axis in space.axes:
        if not axis.domain.is_finite:
            low, high = axis.domain.edges()
            yield {axis.name: low + (high - low) / math.pi}


def _shown(point: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {show_setting(value)}" for name, value in point.items())


def problems_at(space: Space[T], point: dict[str, Any], where: str) -> list[InputError]:
    """Return the problems of the trial at a point; the base's values elsewhere."""
    at = f"{space.at}.{_shown(point)}"
    try:
        space.apply(point)
    except ValidationError as error:
        inner = problems_of(error, type(space.base), where="")
        return [InputError(at, where=where, rule=joined(p), remedy=p.remedy) for p in inner]
    except InputError as error:
        return [InputError(at, where=where, rule=joined(error), remedy=error.remedy)]
    return []
