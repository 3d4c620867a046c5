"""The space around a study's base: resolved axes, and the trial at a point."""

import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.spec import Spec
from rse_study.study.definition.domains import Domain, Variants
from rse_study.study.definition.paths import laid_over, look_up

T = TypeVar("T", bound=Spec)


@dataclass(frozen=True)
class VariantSettings:
    """Settings that an axis of variants lays over the base."""

    values: Mapping[str, Any]
    """by full path"""
    leaves: tuple[str, ...]
    """single fields they set, those of mappings at any depth"""


@dataclass(frozen=True)
class Axis:
    """One dimension of a search or a grid."""

    name: str
    domain: Domain
    paths: tuple[str, ...]
    """full paths of the fields it writes"""
    symbol: str = ""
    """symbol of its field, else its name"""
    variants: Mapping[str, VariantSettings] = field(default_factory=dict)
    """by name; empty for other kinds of axes"""

    @property
    def parent(self) -> str:
        """The axis that decides whether this one exists; empty if it always does."""
        return next(iter(self.domain.when), "")

    def is_active(self, proposal: Mapping[str, Any]) -> bool:
        """Whether the axis exists in a trial with these values."""
        return not self.parent or proposal.get(self.parent) in self.domain.when[self.parent]

    def writes(self, value: Any) -> dict[str, Any]:
        """Return the values that the axis writes at `value`, by full path."""
        return dict(self.variants[value].values) if self.variants else dict.fromkeys(self.paths, value)


@dataclass(frozen=True)
class Space(Generic[T]):
    """The base trial and the axes around it."""

    base: T
    axes: tuple[Axis, ...]
    at: str = "search"
    """where in the file the axes stand"""

    @cached_property
    def parents(self) -> tuple[Axis, ...]:
        """Axes that others may depend on: variants, and those that conditions name."""
        named = {axis.parent for axis in self.axes}
        return tuple(axis for axis in self.axes if isinstance(axis.domain, Variants) or axis.name in named)

    @property
    def is_conditional(self) -> bool:
        """Whether some axes exist in some trials only."""
        return any(axis.parent for axis in self.axes)

    def apply(self, proposal: Mapping[str, Any]) -> T:
        """Return the trial at `proposal` (values by axis name; the base's elsewhere)."""
        base = self._base_at(proposal)
        moved = [axis for axis in self.axes if axis.name in proposal and axis not in self.parents]
        values = {path: proposal[axis.name] for axis in moved for path in axis.paths}
        return type(self.base).model_validate(laid_over(base, values))

    def active_of(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values of the active axes, in file order."""
        return {
            axis.name: values[axis.name]
            for axis in self.axes
            if axis.name in values and axis.is_active(values)
        }

    def branches(self) -> "Iterator[tuple[dict[str, Any], Space[T]]]":
        """Yield each combination of parents' values with its unconditional space."""
        for point in self._parents_points():
            yield point, Space(self._base_at(point), self._axes_at(point), self.at)

    @cached_property
    def base_point(self) -> dict[str, Any] | None:
        """The base as a point; None if it lies outside or an axis' fields differ in it."""
        places = self._places_of_base
        return None if None in places.values() else places

    def missed_by_base(self) -> list[str]:
        """Return the names of axes on which the base has no place."""
        return [name for name, value in self._places_of_base.items() if value is None]

    def coordinates(self, trial: T) -> dict[str, Any]:
        """Return a trial's values by axis name, where the axis' fields agree.

        With parents, it is the first proposal that gives this trial; empty if none does.
        """
        if not self.parents:
            return self._values_in(trial, self.axes)
        for parents in self._parents_points():
            with suppress(ValidationError, InputError, AttributeError):  # it has no such field
                values = self._values_in(trial, self._axes_at(parents)) | parents
                point = self.active_of(values)
                is_inside = all(
                    axis.domain.holds(point[axis.name]) for axis in self.axes if axis.name in point
                )
                if is_inside and self.apply(values) == trial:
                    return point
        return {}

    def edges(self) -> Iterator[dict[str, Any]]:
        """Yield every edge of each axis alone, then all axes at their first and last."""
        for axis in self.parents:
            for value in axis.domain.edges():
                yield {axis.name: value}
        for point in self._parents_points():
            axes = self._axes_at(point)
            for axis in axes:
                for value in axis.domain.edges():
                    yield {**point, axis.name: value}
            if len(axes) > 1:
                yield {**point, **{axis.name: axis.domain.edges()[0] for axis in axes}}
                yield {**point, **{axis.name: axis.domain.edges()[-1] for axis in axes}}

    def num_points(self) -> float:
        """Return the number of different proposals; infinite with a continuous axis."""
        if not all(axis.domain.is_finite for axis in self.axes):
            return math.inf
        return float(
            sum(
                math.prod(len(axis.domain.values()) for axis in self._axes_at(point))
                for point in self._parents_points()
            )
        )

    @cached_property
    def _places_of_base(self) -> dict[str, Any]:
        """Values of the base on active axes, in file order; None where an axis has none."""
        known = {axis.name: self._place_of_base(axis) for axis in self.parents}
        for axis in self.axes:
            if axis.name not in known and axis.is_active(known):
                known[axis.name] = self._place_of_base(axis)
        return {axis.name: known[axis.name] for axis in self.axes if axis.name in known}

    def _place_of_base(self, axis: Axis) -> Any:
        if axis.variants:
            names = (name for name in axis.variants if self._base_at({axis.name: name}) == self.base)
            return next(names, None)
        values = [look_up(self.base, path) for path in axis.paths]
        if any(value != values[0] for value in values):
            return None
        return values[0] if axis.domain.holds(values[0]) else self._former_spelling(axis, values[0])

    def _former_spelling(self, axis: Axis, value: Any) -> Any:
        """Return the axis' choice that a field reads as `value`, or None."""
        for option in axis.domain.values() if axis.domain.scale == "none" else ():
            with suppress(ValidationError, InputError):
                if look_up(self.apply({axis.name: option}), axis.paths[0]) == value:
                    return option
        return None

    def _values_in(self, trial: T, axes: tuple[Axis, ...]) -> dict[str, Any]:
        seen = {axis.name: [look_up(trial, path) for path in axis.paths] for axis in axes}
        return {
            name: values[0]
            for name, values in seen.items()
            if all(value == values[0] for value in values) and isinstance(values[0], str | int | float)
        }

    def _parents_points(self) -> Iterator[dict[str, Any]]:
        names = [axis.name for axis in self.parents]
        for values in product(*(axis.domain.values() for axis in self.parents)):
            yield dict(zip(names, values, strict=True))

    def _axes_at(self, point: Mapping[str, Any]) -> tuple[Axis, ...]:
        """Return the other axes that are active at the parents' values, without their conditions."""
        return tuple(
            replace(axis, domain=axis.domain.model_copy(update={"when": {}})) if axis.parent else axis
            for axis in self.axes
            if axis not in self.parents and axis.is_active(point)
        )

    def _base_at(self, proposal: Mapping[str, Any]) -> T:
        """Return the base with the values that the parents write."""
        moved = [axis for axis in self.parents if axis.name in proposal]
        if not moved:
            return self.base
        key = tuple((axis.name, proposal[axis.name]) for axis in moved)
        if key not in self._bases:
            written = {path: v for axis in moved for path, v in axis.writes(proposal[axis.name]).items()}
            self._bases[key] = type(self.base).model_validate(laid_over(self.base, written))
        return self._bases[key]

    @cached_property
    def _bases(self) -> dict[tuple[tuple[str, Any], ...], T]:
        return {}
