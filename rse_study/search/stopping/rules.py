"""Rules of early stopping, as a study's file names them."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PositiveInt, Tag, model_validator

from rse_study.spec import Spec, field

Factor = Annotated[int, Field(ge=2)]


class StoppingRule(Spec):
    """What every rule says: its first rung, and whom it only observes."""

    first: PositiveInt
    """optimiser steps at the first rung"""
    let_run: float = field(0.0, ge=0, le=1, neutral=0.0)
    """share of the trials that run to the full budget whatever the verdict, so that it can be judged"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        """Return the steps at which a trial may be stopped, below the full budget."""
        raise NotImplementedError

    @property
    def condition(self) -> str:
        """Who goes on from a rung, in words."""
        raise NotImplementedError


class Asha(StoppingRule):
    """Asynchronous successive halving (Li et al. 2020).

    At each rung a cell goes on if it is among the best 1/factor of all that got there.
    """

    name: Literal["asha"] = "asha"
    factor: int = field(3, ge=2)
    """one in so many goes on; the next rung is so many times as far, below the full budget"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        return tuple(_geometric(self.first, self.factor, num_steps))

    @property
    def condition(self) -> str:
        return f"among the best 1/{self.factor} so far"


class Median(StoppingRule):
    """The median stopping rule (Golovin et al. 2017, Google Vizier).

    At each rung a cell is stopped if its best value so far is worse than the median of the others' running averages.
    """

    name: Literal["median"] = "median"
    every: PositiveInt | None = None
    """optimiser steps from a rung to the next; or give `factor`"""
    factor: Factor | None = None
    """the next rung is so many times as far; or give `every`"""
    num_startup: PositiveInt = 5
    """as long as fewer others got to a rung, everything goes on from it"""

    @model_validator(mode="after")
    def _one_distance(self) -> "Median":
        if self.every is not None and self.factor is not None:
            remedy = "take one away (of a file extended: `factor: null`)"
            raise ValueError(f"`every` and `factor` both say how far it is to the next rung; {remedy}")
        if self.every is None and self.factor is None:
            raise ValueError("needs `every` or `factor`: how far it is to the next rung")
        return self

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        if self.every is not None:
            return tuple(range(self.first, num_steps, self.every))
        assert self.factor is not None, "validated"
        return tuple(_geometric(self.first, self.factor, num_steps))

    @property
    def condition(self) -> str:
        others = f"once {self.num_startup} others got there"
        return f"its best value is no worse than the median of the others' running averages ({others})"


class Hyperband(StoppingRule):
    """Hyperband (Li et al. 2018) with asynchronous brackets.

    Each bracket begins one rung later than the one before, the last has none. Trials are dealt out in Hyperband's
    proportions; in a bracket the rule is that of `asha`.
    """

    name: Literal["hyperband"] = "hyperband"
    factor: int = field(3, ge=2)
    """one in so many of a bracket goes on; the next rung is so many times as far, below the full budget"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        return tuple(_geometric(self.first, self.factor, num_steps))

    @property
    def condition(self) -> str:
        return f"among the best 1/{self.factor} of its bracket so far"


def _geometric(first: int, factor: int, num_steps: int) -> Iterator[int]:
    t = first
    while t < num_steps:
        yield t
        t *= factor


def _name_of(given: Any) -> Any:
    """The name that tells the rules apart; files may leave the first one's out."""
    return given.get("name", "asha") if isinstance(given, dict) else getattr(given, "name", "asha")


EarlyStopping = Annotated[
    Annotated[Asha, Tag("asha")] | Annotated[Median, Tag("median")] | Annotated[Hyperband, Tag("hyperband")],
    Discriminator(_name_of),
]
