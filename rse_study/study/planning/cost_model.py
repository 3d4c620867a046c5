"""What cells cost: counts of what they compute, and seconds where known."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from rse_study.study.definition.config import Resources
from rse_study.study.planning.estimates import NOTHING, Range, exactly, sum_of_draws
from rse_study.study.planning.throughput import Throughput
from rse_study.study.planning.workload import BatchShape, Workload


@dataclass(frozen=True)
class Cost:
    """Steps, gradient passes, work (P*T) and seconds of one or more cells."""

    steps: Range
    """optimiser steps"""
    gradient_passes: Range
    work: Range
    """floating-point operations in P*T"""
    seconds: Range | None
    """None where nobody knows"""

    def __add__(self, other: "Cost") -> "Cost":
        seconds = None if self.seconds is None or other.seconds is None else self.seconds + other.seconds
        return Cost(
            self.steps + other.steps,
            self.gradient_passes + other.gradient_passes,
            self.work + other.work,
            seconds,
        )

    def scaled(self, share: Range) -> "Cost":
        """Return the cost of a share of these cells, which nobody knows yet."""
        seconds = None if self.seconds is None else share * self.seconds
        return Cost(share * self.steps, share * self.gradient_passes, share * self.work, seconds)

    def times(self, number: int) -> "Cost":
        """Return the cost of so many cells alike."""
        seconds = None if self.seconds is None else self.seconds.times(number)
        steps, passes, work = (r.times(number) for r in (self.steps, self.gradient_passes, self.work))
        return Cost(steps, passes, work, seconds)


FREE = Cost(NOTHING, NOTHING, NOTHING, NOTHING)
WHOLE = exactly(1.0)


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return reduce(add, costs, FREE)


def drawn(costs: Sequence[Cost], num_draws: int) -> Cost:
    """Return the cost of so many cells that are drawn from these.

    It is what the sum of them may come to.
    """
    seconds = [cost.seconds for cost in costs if cost.seconds is not None]
    return Cost(
        sum_of_draws([cost.steps for cost in costs], num_draws),
        sum_of_draws([cost.gradient_passes for cost in costs], num_draws),
        sum_of_draws([cost.work for cost in costs], num_draws),
        sum_of_draws(seconds, num_draws) if len(seconds) == len(costs) else None,
    )


class CostModel:
    """What cells cost at the throughput of one executor, workers and threads."""

    def __init__(self, throughput: Throughput, resources: Resources) -> None:
        self.throughput, self.resources = throughput, resources
        self._paces: dict[BatchShape, Range | None] = {}
        self._overhead = throughput.overhead_seconds(resources.runs_on)
        self._scoring_overhead = throughput.overhead_seconds("inline")

    @property
    def shapes(self) -> frozenset[BatchShape]:
        """The shapes that were priced so far."""
        return frozenset(self._paces)

    def cell(self, workload: Workload, share: Range = WHOLE) -> Cost:
        """Return the cost of a cell that runs this share of its steps."""
        counts = (workload.num_steps, workload.gradient_passes, workload.work)
        return self._cost(*counts, workload.shape, share, self._overhead)

    def scoring(self, work: float, shape: BatchShape) -> Cost:
        """Return the cost of the scores of one kept model.

        It is a task of its own, which starts as an inline cell does.
        """
        return self._cost(0, 0, work, shape, WHOLE, self._scoring_overhead)

    def _cost(
        self, steps: int, passes: int, work: float, shape: BatchShape, share: Range, overhead: Range
    ) -> Cost:
        if shape not in self._paces:
            self._paces[shape] = self.throughput.seconds_per_work(shape, self.resources)
        pace, done = self._paces[shape], share.times(work)
        seconds = None if pace is None else done * pace + overhead
        return Cost(share.times(steps), share.times(passes), done, seconds)
