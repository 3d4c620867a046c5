"""Axes of a search or a grid: values, and the fields of the trial they write."""

import math
from collections.abc import Sequence
from operator import not_
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from rse_study.spec import Spec, field, fraction

Scale = Literal["log", "linear", "none"]

Number = Annotated[float, BeforeValidator(fraction, json_schema_input_type=float)]
Numbers = tuple[Number, Number]
Integer = Annotated[int, Field(ge=-(2**53), le=2**53)]  # exact as a float
Integers = tuple[Integer, Integer]
Paths = Annotated[
    tuple[str, ...],
    BeforeValidator(
        lambda given: (given,) if isinstance(given, str) else given,
        json_schema_input_type=str | tuple[str, ...],
    ),
]


def _option(given: Any) -> Any:
    value = fraction(given)
    # A switch is a noun: true and false are no values of any field.
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError("must be text or a number. Write one, such as l2 or 0.5")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("must be finite")
    return value


Option = Annotated[str | int | float, BeforeValidator(_option, json_schema_input_type=str | int | float)]
Choices = Annotated[tuple[Option, ...], Field(min_length=2)]
OneOrSeveral = Annotated[
    tuple[Option, ...],
    Field(min_length=1),
    BeforeValidator(
        lambda given: tuple(given) if isinstance(given, list | tuple) else (given,),
        json_schema_input_type=str | int | float | tuple[str | int | float, ...],
    ),
]


def _of_one_axis(condition: dict[str, tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
    if len(condition) > 1:
        named = ", ".join(condition)
        raise ValueError(
            f"must name one axis, and names {named}: an axis belongs to one choice. Keep one of them"
        )
    return condition


Condition = Annotated[dict[str, OneOrSeveral], AfterValidator(_of_one_axis)]


class Domain(Spec):
    """The values of an axis."""

    kind: ClassVar[str]
    scale: ClassVar[Scale] = "linear"
    is_finite: ClassVar[bool] = False
    into: Paths = ()
    """fields it writes; without it, the axis' own name is the field"""
    when: Condition = field({}, neutral={}, exclude_if=not_)  # as in studies frozen before conditions existed
    """of a search: the axis is there only where another one, of variants or choices, has one of these values"""

    def edges(self) -> tuple[Any, ...]:
        """Return the values that can break a trial: both ends, or every choice."""
        return tuple(self.values())

    def holds(self, value: Any) -> bool:
        """Whether a proposal may have this value."""
        raise NotImplementedError

    def values(self) -> Sequence[Any]:
        """Return all values of a finite axis, in order."""
        raise NotImplementedError

    def at(self, u: float) -> Any:
        """Return the value below which a share `u` in [0, 1) of the axis lies.

        >>> Float(float=(-1, 1)).at(0.25)
        -0.5
        >>> Choice(choice=("a", "b")).at(0.5)
        'b'
        """
        if self.is_finite:
            values = self.values()
            return values[min(int(u * len(values)), len(values) - 1)]
        low, high = self.edges()
        return float(low * (high / low) ** u) if self.scale == "log" else float(low + u * (high - low))


class _Interval(Domain):
    """A range whose ends both belong to the axis."""

    def edges(self) -> tuple[Any, ...]:
        return tuple(getattr(self, self.kind))

    def holds(self, value: Any) -> bool:
        low, high = self.edges()
        if isinstance(value, bool) or not isinstance(value, int | float):
            return False
        return low <= value <= high and (self.kind != "int" or value == int(value))

    @model_validator(mode="after")
    def _ordered(self) -> "_Interval":
        low, high = self.edges()
        if not low < high:
            raise ValueError(f"low {low:g} must be < high {high:g}")
        if self.scale == "log" and low <= 0:
            raise ValueError(f"low {low:g} must be > 0 on a log scale")
        return self


class Log(_Interval):
    """A positive number, uniform in its logarithm."""

    kind: ClassVar[str] = "log"
    scale: ClassVar[Scale] = "log"
    log: Numbers = field()
    """[low, high], drawn by the logarithm"""


class Float(_Interval):
    """A number, uniform."""

    kind: ClassVar[str] = "float"
    float: Numbers = field()
    """[low, high]"""


class Int(_Interval):
    """An integer, uniform, both ends included."""

    kind: ClassVar[str] = "int"
    is_finite: ClassVar[bool] = True
    int: Integers = field()
    """[low, high], both included"""

    def values(self) -> Sequence[Any]:
        return range(self.int[0], self.int[1] + 1)


class Choice(Domain):
    """One of the values listed."""

    kind: ClassVar[str] = "choice"
    is_finite: ClassVar[bool] = True
    scale: ClassVar[Scale] = "none"
    choice: Choices
    """the values"""

    def values(self) -> Sequence[Any]:
        return self.choice

    def holds(self, value: Any) -> bool:
        return any(value == option and type(value) is type(option) for option in self.choice)

    @model_validator(mode="after")
    def _distinct(self) -> "Choice":
        if len(set(self.choice)) < len(self.choice):
            raise ValueError("a choice is listed twice. Remove one of them")
        return self


class Variants(Domain):
    """One of several settings by name, each laid over the base.

    As a row of a grid is.
    """

    kind: ClassVar[str] = "variants"
    is_finite: ClassVar[bool] = True
    scale: ClassVar[Scale] = "none"
    variants: dict[str, dict[str, Any]] = field(min_length=2)
    """by name, values by symbol or path; `{}` is the base as it is"""

    def values(self) -> Sequence[Any]:
        return tuple(self.variants)

    def holds(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.variants

    @model_validator(mode="after")
    def _stands_alone(self) -> "Variants":
        if self.into:
            raise ValueError("variants write what their settings name. Leave out `into`")
        if self.when:
            raise ValueError("variants depend on no other axis. Name the combinations, in one axis")
        return self


KINDS: dict[str, type[Domain]] = {cls.kind: cls for cls in (Log, Float, Int, Choice, Variants)}


def _kind_of(given: Any) -> str | None:
    if isinstance(given, Domain):
        return given.kind
    named = [key for key in given if key in KINDS] if isinstance(given, dict) else []
    return named[0] if len(named) == 1 else None


def _finite_kind_of(given: Any) -> str | None:
    kind = _kind_of(given)
    return kind if kind in ("int", "choice") else None


def _as_choice(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        return given
    if len(given) < 2:
        raise ValueError("must list at least 2 values. A single value belongs in the base")
    return {"choice": given}


_Log, _Float = Annotated[Log, Tag("log")], Annotated[Float, Tag("float")]
_Int, _Choice = Annotated[Int, Tag("int")], Annotated[Choice, Tag("choice")]
_Variants = Annotated[Variants, Tag("variants")]
AnyDomain = Annotated[
    _Log | _Float | _Int | _Choice | _Variants,
    Discriminator(
        _kind_of,
        custom_error_type="search_axis_kind",
        custom_error_message="an axis says exactly one of `log: [low, high]`, `float: [low, high]`, "
        "`int: [low, high]`, `choice: [...]`, `variants: {...}`",
    ),
]
FiniteDomain = Annotated[
    _Int | _Choice,
    Discriminator(
        _finite_kind_of,
        custom_error_type="axis_kind",
        custom_error_message="an axis of a grid lists its values, `[...]` or `choice: [...]`, or says "
        "`int: [low, high]`",
    ),
    BeforeValidator(_as_choice, json_schema_input_type=Choices | Int | Choice),
]
"""An axis of a grid; a bare list stands for its choices."""


def _of_two_levels(domain: Domain) -> Domain:
    if len(domain.values()) != 2:
        raise ValueError(
            f"a factor has two levels, and {len(domain.values())} are listed. Use `axes` for more"
        )
    return domain


_FACTOR = "a factor lists its two levels, `[...]` or `choice: [...]`, or says `variants: {...}`"
FactorDomain = Annotated[
    _Choice | _Variants,
    Discriminator(_kind_of, custom_error_type="axis_kind", custom_error_message=_FACTOR),
    BeforeValidator(_as_choice, json_schema_input_type=Choices | Choice | Variants),
    AfterValidator(_of_two_levels),
]
"""A factor of a factorial design; a bare list stands for its two levels."""
