"""The space around a study's base: resolved axes, and the trial at a point."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec, symbols
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.paths import laid_over, look_up, overlap, resolve, resolve_symbol

T = TypeVar("T", bound=Spec)


@dataclass(frozen=True)
class Axis:
    """One dimension of a search or a grid."""

    name: str
    domain: Domain
    """what it may be"""
    paths: tuple[str, ...]
    """full paths of the fields it writes"""
    symbol: str = ""
    """that of its field, else its name"""


@dataclass(frozen=True)
class Space(Generic[T]):
    """The base trial and the axes around it."""

    base: T
    axes: tuple[Axis, ...]
    at: str = "search"
    """where in the file the axes stand"""

    def apply(self, proposal: Mapping[str, Any]) -> T:
        """Return the trial at `proposal` (values by axis name; the base's elsewhere).

        Raises ValidationError, InputError.
        """
        moved = [axis for axis in self.axes if axis.name in proposal]
        values = {path: proposal[axis.name] for axis in moved for path in axis.paths}
        return type(self.base).model_validate(laid_over(self.base, values))

    @cached_property
    def base_point(self) -> dict[str, Any] | None:
        """The base as a point of the space.

        None where it lies outside or an axis' fields differ in it.
        """
        point: dict[str, Any] = {}
        for axis in self.axes:
            values = [look_up(self.base, path) for path in axis.paths]
            if any(value != values[0] for value in values):
                return None
            value = values[0] if axis.domain.holds(values[0]) else self._former_spelling(axis, values[0])
            if value is None:
                return None
            point[axis.name] = value
        return point

    def completed(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """Return a point with the base's values on the axes it leaves out, in their order."""
        values = {**(self.base_point or {}), **point}
        return {axis.name: values[axis.name] for axis in self.axes if axis.name in values}

    def missed_by_base(self) -> list[str]:
        """The axes on which the base has no place: their names."""
        return [axis.name for axis in self.axes if Space(self.base, (axis,), self.at).base_point is None]

    def _former_spelling(self, axis: Axis, value: Any) -> Any:
        """The choice of the axis that a field reads as `value`; None where there is none."""
        for option in axis.domain.values() if axis.domain.scale == "none" else ():
            with suppress(ValidationError, InputError):
                if look_up(self.apply({axis.name: option}), axis.paths[0]) == value:
                    return option
        return None

    def coordinates(self, trial: T) -> dict[str, Any]:
        """Return a trial's values by axis name.

        Of the axes whose fields agree in it and hold a number or a text.
        """
        seen = {axis.name: [look_up(trial, path) for path in axis.paths] for axis in self.axes}
        return {
            name: values[0]
            for name, values in seen.items()
            if all(value == values[0] for value in values) and isinstance(values[0], str | int | float)
        }

    def edges(self) -> Iterator[dict[str, Any]]:
        """Yield every end and choice of each axis alone, then two corners.

        The corners are all axes at their first and all at their last value.
        """
        for axis in self.axes:
            for value in axis.domain.edges():
                yield {axis.name: value}
        if len(self.axes) > 1:
            yield {axis.name: axis.domain.edges()[0] for axis in self.axes}
            yield {axis.name: axis.domain.edges()[-1] for axis in self.axes}

    def num_points(self) -> float:
        """Return how many different proposals there are; infinite with a continuous axis."""
        finite = all(axis.domain.is_finite for axis in self.axes)
        return float(math.prod(len(axis.domain.values()) for axis in self.axes)) if finite else math.inf


def resolve_space(
    base: T, domains: Mapping[str, Domain], *, where: str, at: str = "search"
) -> tuple[Space[T], list[InputError]]:
    """Return the space and every problem of its paths.

    Axes with a problem are left out.

    Parameters
    ----------
    base
        The trial around which the axes lie.
    domains
        Axes by name.
    where
        The file, named in problems.
    at
        Where in the file the axes stand.
    """
    axes, problems = [], []
    for name, domain in domains.items():
        try:
            axes.append(_resolve_axis(base, name, domain, where, f"{at}.{name}"))
        except InputError as problem:
            problems.append(problem)
    return Space(base, tuple(axes), at), problems + _written_twice(axes, where, at)


def resolve_field(base: Spec, name: str, *, where: str, at: str) -> str:
    """Return the full path of the field that a symbol, path or suffix names.

    Parameters
    ----------
    base
        Where the path leads into.
    name
        A symbol, a full path, or a unique suffix of one.
    where, at
        The file, and where in it the name stands.

    Raises
    ------
    InputError
        No field, or several, are named so.
    """
    return resolve_symbol(base, name) or resolve(base, name, where=where, at=at)


def _resolve_axis(base: Spec, name: str, domain: Domain, where: str, at: str) -> Axis:
    if domain.into:
        paths = tuple(resolve(base, path, where=where, at=f"{at}.into: {path}") for path in domain.into)
        if len(set(paths)) < len(paths):
            raise InputError(f"{at}.into", where=where, rule="lists a field twice", remedy="Keep one of them")
        return Axis(name, domain, paths, _symbol_of(base, name, paths))
    path = resolve_field(base, name, where=where, at=at)
    return Axis(name, domain, (path,), _symbol_of(base, name, (path,)))


def _symbol_of(base: Spec, name: str, paths: tuple[str, ...]) -> str:
    """The symbol all the fields share; an axis over several fields is known by its own name."""
    declared = dict(symbols(base))
    shared = {declared.get(path, "") for path in paths}
    return shared.pop() if len(shared) == 1 and len(paths) == 1 else name


def _written_twice(axes: list[Axis], where: str, at: str) -> list[InputError]:
    writers: dict[str, str] = {}
    problems = []
    for axis in axes:
        for path in axis.paths:
            for other in [written for written in writers if overlap(path, written)]:
                rule = f"{other} is written by {writers[other]!r} too"
                what = f"{at}.{axis.name}"
                problems.append(InputError(what, where=where, rule=rule, remedy="Keep one of them"))
            writers[path] = axis.name
    return problems


def joined(problem: InputError) -> str:
    """Return what and rule of a problem, where another one speaks of it."""
    return ": ".join(part for part in (problem.what, problem.rule) if part)
