"""What a verdict rests on."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

RungValues = Mapping[int, Mapping[int, float]]
"""The objective of all trials at rungs, by step and number of the trial."""


@dataclass(frozen=True)
class TrialAtRung:
    """A trial that waits at a rung, and what the ledger holds of rungs by then."""

    trial: int
    """its number"""
    t: int
    """the rung, in optimiser steps"""
    value: float
    """its objective there"""
    values: RungValues
    """of every trial at every rung it got to; whether its own at `t` is among them makes no difference"""
    rungs: tuple[int, ...]
    """all those of the study"""
    search_seed: int
    direction: Literal["maximize", "minimize"]
    """which values are better"""

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
        """Return whether `one` is strictly better than `other`."""
        return one > other if self.direction == "maximize" else one < other
