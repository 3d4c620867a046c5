"""Axes of a search: what values one may take, and which fields of the trial it writes."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Discriminator, Tag, model_validator

from rse_study.spec import Spec, field, fraction

Scale = Literal["log", "linear", "none"]

Number = Annotated[float, BeforeValidator(fraction)]
Numbers = tuple[Number, Number]
Integers = tuple[int, int]
Paths = Annotated[
    tuple[str, ...], BeforeValidator(lambda given: (given,) if isinstance(given, str) else given)
]


class Domain(Spec):
    """What an axis may be. `into` lists the fields it writes; without it, the axis' own name is the field."""

    kind: ClassVar[str]
    scale: ClassVar[Scale] = "linear"
    into: Paths = ()

    def edges(self) -> tuple[Any, ...]:
        """The values at which the axis can break a trial: both ends, or every choice."""
        raise NotImplementedError

    def holds(self, value: Any) -> bool:
        """Whether a proposal may have this value."""
        raise NotImplementedError


class _Interval(Domain):
    """Both ends belong to the axis."""

    def edges(self) -> tuple[Any, ...]:
        """Both ends."""
        return tuple(getattr(self, self.kind))

    def holds(self, value: Any) -> bool:
        """Between the ends; an integer axis holds integers only."""
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


class Float(_Interval):
    """A number, uniform."""

    kind: ClassVar[str] = "float"
    float: Numbers = field()


class Int(_Interval):
    """An integer, uniform, both ends included."""

    kind: ClassVar[str] = "int"
    int: Integers = field()


class Choice(Domain):
    """One of the values listed."""

    kind: ClassVar[str] = "choice"
    scale: ClassVar[Scale] = "none"
    choice: tuple[str | int | Number, ...] = field(min_length=2)

    def edges(self) -> tuple[Any, ...]:
        """Every choice."""
        return self.choice

    def holds(self, value: Any) -> bool:
        """Whether it is listed."""
        return any(value == option and type(value) is type(option) for option in self.choice)

    @model_validator(mode="after")
    def _distinct(self) -> "Choice":
        if len(set(self.choice)) < len(self.choice):
            raise ValueError("a choice is listed twice")
        return self


KINDS: dict[str, type[Domain]] = {cls.kind: cls for cls in (Log, Float, Int, Choice)}


def _kind_of(given: Any) -> str | None:
    if isinstance(given, Domain):
        return given.kind
    named = [key for key in given if key in KINDS] if isinstance(given, dict) else []
    return named[0] if len(named) == 1 else None


_Log, _Float = Annotated[Log, Tag("log")], Annotated[Float, Tag("float")]
_Int, _Choice = Annotated[Int, Tag("int")], Annotated[Choice, Tag("choice")]
AnyDomain = Annotated[
    _Log | _Float | _Int | _Choice,
    Discriminator(
        _kind_of,
        custom_error_type="axis_kind",
        custom_error_message="an axis says exactly one of `log: [low, high]`, `float: [low, high]`, "
        "`int: [low, high]`, `choice: [...]`",
    ),
]
