"""The interface of stopping rules: verdicts from values and trial numbers alone."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as attribute
from typing import Annotated, Self

from pydantic import Field, PositiveInt, model_validator

from rse_study.results.records import Direction, Verdict
from rse_study.search.observation import Observation
from rse_study.search.stopping.draws import is_let_run
from rse_study.spec import Spec, field

Factor = Annotated[int, Field(ge=2)]
RungValues = Mapping[int, Mapping[int, float]]
"""objective of all trials at rungs, by step and trial number"""


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
    """Base class: the first rung, and the share of trials that are only observed."""

    first: PositiveInt
    """optimiser steps at the first rung"""
    let_run: float = field(0.0, ge=0, le=1, neutral=0.0)
    """share of the trials that run to the full budget whatever the verdict, so that it can be judged"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        """Return the steps below the full budget at which a trial may be stopped."""
        raise NotImplementedError

    @property
    def condition(self) -> str:
        raise NotImplementedError

    def passes(self, waiting: TrialAtRung) -> bool:
        raise NotImplementedError

    def judged_shares(self, num_rungs: int, num_trials: int) -> list[float]:
        """Return the least share of judged trials expected to go on from each rung."""
        raise NotImplementedError

    def rungs_of_trial(self, rungs: Sequence[int], search_seed: int, trial: int) -> tuple[int, ...]:
        return tuple(rungs)

    def exceptions(self, rungs: Sequence[int]) -> Iterator[str]:
        """Yield in words which trials are judged otherwise than the others."""
        if self.let_run:
            yield f"let run on whatever the verdict: {self.let_run:.0%} of the trials"

    def verdict(self, waiting: TrialAtRung) -> Verdict:
        """Stop values that are not finite; the first to arrive goes on, and so do ties."""
        return "continue" if math.isfinite(waiting.value) and self.passes(waiting) else "stop"

    def effective(self, search_seed: int, trial: int, value: float, said: Verdict) -> Verdict:
        """Return "continue" for a trial that is let run on, else the verdict.

        The ledger keeps the verdict, to compare it with the trial's end. A value that is not finite stops in any case.
        """
        goes_on = math.isfinite(value) and is_let_run(search_seed, trial, self.let_run)
        return "continue" if goes_on else said

    def shares_past(self, num_rungs: int, num_trials: int) -> list[float]:
        """Return the least share of trials that go on; early ones pass more easily."""
        judged = self.judged_shares(num_rungs, num_trials)
        return [self.let_run + (1 - self.let_run) * share for share in judged]


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
