"""A search on a surface: real proposer and verdicts, simulated clock."""

import heapq
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.search_arms.arm import Arm
from benchmarks.search_arms.surface import AxisDomains, Surface, noise
from rse_study.sampling.proposer import Proposer
from rse_study.search.stopping import TrialAtRung

DIRECTION: Literal["maximize"] = "maximize"


@dataclass(frozen=True)
class EndedTrial:
    """A trial that ended, in the order of the clock."""

    number: int
    steps_spent: float
    """of all trials together, until it ended"""
    is_complete: bool
    """whether it ran to the full budget"""
    value: float
    """measured at its end"""
    truth: float
    """its point's value at the full budget, without noise"""


@dataclass
class SimulatedSearch:
    """One search of one arm, in which every worker takes the same time per step."""

    surface: Surface
    domains: AxisDomains
    arm: Arm
    num_workers: int
    max_steps: int
    """of all trials together: nothing starts after that, and no later end counts"""
    seed: int
    """of the sampler, of brackets and of noise"""
    _values: dict[int, dict[int, float]] = field(default_factory=dict)
    _points: dict[int, Mapping[str, Any]] = field(default_factory=dict)
    _clock: list[tuple[float, int, int]] = field(default_factory=list)
    """time, trial, the step it will have reached by then"""

    def run(self) -> Iterator[EndedTrial]:
        """Yield the trials that end within the budget, in order."""
        self._proposer = Proposer(self.domains, self.arm.make_sampler(), self.seed, [DIRECTION])
        self._rule = self.arm.stopping(self.surface.rungs)
        self._rungs = self._rule.rungs(self.surface.num_steps) if self._rule else ()
        self._values = {t: {} for t in self._rungs}
        for _ in range(self.num_workers):
            self._begin(0.0)
        while self._clock:
            time, number, t = heapq.heappop(self._clock)
            if time * self.num_workers > self.max_steps:
                return
            ended = self._reached(time, number, t)
            if ended is not None:
                yield ended
                self._begin(time)

    def _begin(self, time: float) -> None:
        number = len(self._points)
        self._points[number] = self._proposer.ask(number)
        heapq.heappush(self._clock, (time + self._next(number, 0), number, self._next(number, 0)))

    def _next(self, number: int, t: int) -> int:
        """The step of a trial's next rung, or of its end."""
        rungs = self._rule.rungs_of_trial(self._rungs, self.seed, number) if self._rule else ()
        return min(stop for stop in (*rungs, self.surface.num_steps) if stop > t)

    def _reached(self, time: float, number: int, t: int) -> EndedTrial | None:
        point = self._points[number]
        draw = noise(self.surface.name, number, t, self.seed)
        value = self.surface.value(point, t) + self.surface.sd * draw
        is_complete = t == self.surface.num_steps
        if not is_complete and self._goes_on(number, t, value):
            heapq.heappush(self._clock, (time + self._next(number, t) - t, number, self._next(number, t)))
            return None
        self._proposer.tell(number, "complete" if is_complete else "pruned", [value] if is_complete else None)
        spent = time * self.num_workers
        return EndedTrial(number, spent, is_complete, value, self.surface.truth(point))

    def _goes_on(self, number: int, t: int, value: float) -> bool:
        assert self._rule is not None, "only a rule has rungs"
        waiting = TrialAtRung(number, t, value, self._values, self._rungs, self.seed, DIRECTION)
        said = self._rule.verdict(waiting)
        self._values[t][number] = value
        return self._rule.effective(self.seed, number, value, said) == "continue"
