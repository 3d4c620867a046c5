"""The interface of stopping rules: verdicts from values and trial numbers alone."""

import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, PositiveInt, PrivateAttr, model_validator

from rse_study.registry import ClassPath
from rse_study.results.records import Direction, Verdict
from rse_study.search.choice import Observation
from rse_study.spec import Spec, field

Factor = Annotated[int, Field(ge=2)]
RungValues = Mapping[int, Mapping[int, float]]
"""objective of all trials at rungs, by step and trial number"""
LET_RUN = (
    "`let_run` is no longer possible: a trial that a verdict stops ends there. Remove it; to judge a rule, run the "
    "search with `early_stopping: null` (its histories have the values at the rungs; docs/searches.md)"
)


@dataclass(frozen=True)
class TrialAtRung:
    """A trial that waits at a rung, and what the ledger holds of rungs by then."""

    trial: int
    """its number"""
    t: int
    """rung, in optimiser steps"""
    value: float
    values: RungValues
    """of every trial at every rung it got to; its own at `t` makes no difference"""
    rungs: tuple[int, ...]
    search_seed: int
    direction: Direction
    ends: Mapping[int, Observation] = attribute(default_factory=dict)
    """how other trials have ended, by number"""

    def others(self) -> Iterator[int]:
        """Return the numbers of the other trials that have a finite value at this rung."""
        for trial, value in self.values.get(self.t, {}).items():
            if trial != self.trial and math.isfinite(value):
                yield trial

    def others_values(self, among: Collection[int] | None = None) -> list[float]:
        """Return the finite values of the others at this rung, or of some of them."""
        here = self.values.get(self.t, {})
        return [here[trial] for trial in self.others() if among is None or trial in among]

    def course(self, trial: int) -> list[float]:
        """Return the finite values of a trial at the rungs up to this one."""
        until = [t for t in self.rungs if t <= self.t]
        values = [self.values.get(t, {}).get(trial, math.nan) for t in until]
        if trial == self.trial:
            values[-1] = self.value
        return [value for value in values if math.isfinite(value)]

    def is_better(self, one: float, other: float) -> bool:
        return one > other if self.direction == "maximize" else one < other


class StoppingRule(Spec):
    """Base class: the first rung, and who goes on from each."""

    first: PositiveInt
    """optimiser steps at the first rung"""

    @model_validator(mode="before")
    @classmethod
    def _without_let_run(cls, given: Any) -> Any:
        """Refuse a field of earlier versions, whose frozen studies have it at 0."""
        if not isinstance(given, dict) or "let_run" in cls.model_fields or "let_run" not in given:
            return given
        if isinstance(share := given["let_run"], bool) or share != 0:
            raise ValueError(LET_RUN)
        return {name: value for name, value in given.items() if name != "let_run"}

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        """Return the steps below the full budget at which a trial may be stopped."""
        raise NotImplementedError

    @property
    def condition(self) -> str:
        raise NotImplementedError

    def passes(self, waiting: TrialAtRung) -> bool:
        raise NotImplementedError

    def rungs_of_trial(self, rungs: Sequence[int], search_seed: int, trial: int) -> tuple[int, ...]:
        return tuple(rungs)

    def exceptions(self, rungs: Sequence[int]) -> Iterator[str]:
        """Yield in words which trials are judged otherwise than the others."""
        yield from ()

    def verdict(self, waiting: TrialAtRung) -> Verdict:
        """Stop values that are not finite; the first to arrive goes on, and so do ties."""
        return "continue" if math.isfinite(waiting.value) and self.passes(waiting) else "stop"


class SpacedRule(StoppingRule):
    """Base class of rules whose rungs lie a fixed number of steps, or a factor, apart."""

    every: PositiveInt | None = None
    """optimiser steps from a rung to the next; or give `factor`"""
    factor: Factor | None = None
    """the next rung is so many times as far; or give `every`"""

    @model_validator(mode="after")
    def _one_distance(self) -> Self:
        if self.every is not None and self.factor is not None:
            remedy = "Remove one (if it is inherited: `factor: null`)"
            raise ValueError(f"`every` and `factor` both set the distance to the next rung. {remedy}")
        if self.every is None and self.factor is None:
            raise ValueError(
                "needs `every` or `factor`: the distance to the next rung. For example: factor: 3"
            )
        return self

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        if self.every is not None:
            return tuple(range(self.first, num_steps, self.every))
        assert self.factor is not None, "validated"
        return geometric(self.first, self.factor, num_steps)


def geometric(first: int, factor: int, num_steps: int) -> tuple[int, ...]:
    """Return first, first * factor, ... below `num_steps`."""
    rungs = []
    while first < num_steps:
        rungs.append(first)
        first *= factor
    return tuple(rungs)


class RuleByClass(SpacedRule):
    """A rule by `module:Class`.

    The class decides; all else is known without importing it. It derives from StoppingRule, and then needs `passes`
    alone, or from Optuna's BasePruner. Rungs lie where `first` and `every` or `factor` say, the same for every trial.
    """

    model_config = ConfigDict(serialize_by_alias=True)

    class_: ClassPath = field(alias="class")
    """`module:Class` of a StoppingRule or of a pruner of Optuna: of a file beside the study, or installed"""
    settings: dict[str, Any] = field({})
    """what `class` is made with, beside the rungs"""

    _decides: Callable[[TrialAtRung], bool] | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _has_no_name(cls, given: Any) -> Any:
        if isinstance(given, dict) and "name" in given:
            remedy = "Keep one (`name: null` takes away that of a file extended)"
            raise ValueError(f"has a name and a class. {remedy}")
        return given

    @property
    def condition(self) -> str:
        return f"{self.class_} lets it go on"

    def shared_with(self, cls: type[StoppingRule]) -> dict[str, Any]:
        """Return the fields that a class shares, unless `settings` gives them."""
        names = [
            name for name in SpacedRule.model_fields if name in cls.model_fields and name not in self.settings
        ]
        return {name: value for name in names if (value := getattr(self, name)) is not None}

    def decided_by(self, decides: Callable[[TrialAtRung], bool]) -> "RuleByClass":
        """Return this rule with the function that decides who passes."""
        rule = self.model_copy()
        rule._decides = decides
        return rule

    def passes(self, waiting: TrialAtRung) -> bool:
        assert self._decides is not None, "the class is imported before a search runs"
        return self._decides(waiting)
