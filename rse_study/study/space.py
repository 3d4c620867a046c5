"""The space a study searches: axes resolved against the base trial, and the trial at any of its points."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec, symbols
from rse_study.study.domains import Choice, Domain, Int
from rse_study.study.paths import look_up, put, resolve, resolve_symbol
from rse_study.study.problems import problems_of

T = TypeVar("T", bound=Spec)


@dataclass(frozen=True)
class Axis:
    """One searched dimension: its domain and the full paths of the fields it writes."""

    name: str
    domain: Domain
    paths: tuple[str, ...]
    symbol: str = ""


@dataclass(frozen=True)
class Space(Generic[T]):
    """The base trial and the axes around it."""

    base: T
    axes: tuple[Axis, ...]

    def apply(self, proposal: Mapping[str, Any]) -> T:
        """The trial at `proposal` (values by axis name; the base's elsewhere). Raises ValidationError, InputError."""
        content = self.base.model_dump()
        for axis in self.axes:
            for path in axis.paths if axis.name in proposal else ():
                put(content, path.split("."), proposal[axis.name])
        return type(self.base).model_validate(content)

    @cached_property
    def base_point(self) -> dict[str, Any] | None:
        """The base as a point of the space; None where it lies outside or an axis' fields differ in it."""
        point: dict[str, Any] = {}
        for axis in self.axes:
            values = [look_up(self.base, path) for path in axis.paths]
            if any(value != values[0] for value in values) or not axis.domain.holds(values[0]):
                return None
            point[axis.name] = values[0]
        return point

    def edges(self) -> Iterator[dict[str, Any]]:
        """Every end and choice of each axis alone, then all axes at their first and all at their last."""
        for axis in self.axes:
            for value in axis.domain.edges():
                yield {axis.name: value}
        if len(self.axes) > 1:
            yield {axis.name: axis.domain.edges()[0] for axis in self.axes}
            yield {axis.name: axis.domain.edges()[-1] for axis in self.axes}

    def num_points(self) -> float:
        """How many different proposals there are; infinite with a continuous axis."""
        counts = [
            len(a.domain.edges()) if isinstance(a.domain, Choice) else _num_integers(a.domain)
            for a in self.axes
        ]
        return float(math.prod(counts))


def resolve_space(base: T, search: Mapping[str, Domain], *, where: str) -> tuple[Space[T], list[InputError]]:
    """The space and every problem of its paths; axes with a problem are left out."""
    axes, problems = [], []
    for name, domain in search.items():
        try:
            axes.append(_resolve_axis(base, name, domain, where))
        except InputError as problem:
            problems.append(problem)
    return Space(base, tuple(axes)), problems + _written_twice(axes, where)


def check_edges(space: Space[T], *, where: str) -> list[InputError]:
    """What is wrong at the edges of the space, said once each, at the axis it comes from."""
    found: dict[str, InputError] = {}
    broken: set[str] = set()
    for point in space.edges():
        if len(point) > 1 and broken:
            continue  # all axes together would only repeat what one of them said
        for problem in _problems_at(space, point, where):
            broken.update(point)
            found.setdefault(f"{problem.what} {problem.rule}", problem)
    return list(found.values())


def _problems_at(space: Space[T], point: dict[str, Any], where: str) -> list[InputError]:
    at = "search." + ", ".join(f"{name} = {_show(value)}" for name, value in point.items())
    try:
        space.apply(point)
    except ValidationError as error:
        inner = problems_of(error, type(space.base), where="")
        return [InputError(at, where=where, rule=_joined(p), remedy=p.remedy) for p in inner]
    except InputError as error:
        return [InputError(at, where=where, rule=_joined(error), remedy=error.remedy)]
    return []


def _resolve_axis(base: Spec, name: str, domain: Domain, where: str) -> Axis:
    if domain.into:
        at = f"search.{name}.into"
        paths = tuple(resolve(base, path, where=where, at=f"{at}: {path}") for path in domain.into)
        if len(set(paths)) < len(paths):
            raise InputError(at, where=where, rule="lists a field twice")
        return Axis(name, domain, paths, _symbol_of(base, name, paths))
    path = resolve_symbol(base, name) or resolve(base, name, where=where, at=f"search.{name}")
    return Axis(name, domain, (path,), _symbol_of(base, name, (path,)))


def _symbol_of(base: Spec, name: str, paths: tuple[str, ...]) -> str:
    """The symbol all the fields share; an axis over several fields is known by its own name."""
    declared = dict(symbols(base))
    shared = {declared.get(path, "") for path in paths}
    return shared.pop() if len(shared) == 1 and len(paths) == 1 else name


def _written_twice(axes: list[Axis], where: str) -> list[InputError]:
    writers: dict[str, str] = {}
    problems = []
    for axis in axes:
        for path in axis.paths:
            if path in writers:
                rule = f"{path} is written by {writers[path]!r} too"
                problems.append(
                    InputError(f"search.{axis.name}", where=where, rule=rule, remedy="Keep one of them")
                )
            writers[path] = axis.name
    return problems


def _num_integers(domain: Domain) -> float:
    return float(domain.int[1] - domain.int[0] + 1) if isinstance(domain, Int) else math.inf


def _joined(problem: InputError) -> str:
    return ": ".join(part for part in (problem.what, problem.rule) if part)


def _show(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
