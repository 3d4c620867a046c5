"""Cost of cells: counts of what they compute, and seconds where known."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add

from rse_study.study.definition.resources import Resources
from rse_study.study.planning.estimates import NOTHING, Range, exactly, sum_of_draws
from rse_study.study.planning.throughput import Throughput
from rse_study.study.planning.workload import BatchShape, Workload


@dataclass(frozen=True)
class Cost:
    """Optimiser steps, gradient passes, work and seconds of one or more cells."""

    steps: Range
    gradient_passes: Range
    work: Range
    """floating-point operations in P*T"""
    seconds: Range | None
    """None if unknown"""

    def __add__(self, other: "Cost") -> "Cost":
        seconds = None if self.seconds is None or other.seconds is None else self.seconds + other.seconds
        return Cost(
            self.steps + other.steps,
            self.gradient_passes + other.gradient_passes,
            self.work + other.work,
            seconds,
        )

    def scaled(self, share: Range) -> "Cost":
        """Return the cost of an uncertain share of these cells."""
        seconds = None if self.seconds is None else share * self.seconds
        return Cost(share * self.steps, share * self.gradient_passes, share * self.work, seconds)

    def times(self, number: int) -> "Cost":
        seconds = None if self.seconds is None else self.seconds.times(number)
        steps, passes, work = (r.times(number) for r in (self.steps, self.gradient_passes, self.work))
        return Cost(steps, passes, work, seconds)


FREE = Cost(NOTHING, NOTHING, NOTHING, NOTHING)
WHOLE = exactly(1.0)


def total(costs: Iterable[Cost]) -> Cost:
    """Return the sum of costs."""
    return reduce(add, costs, FREE)


def drawn(costs: Sequence[Cost], num_draws: int) -> Cost:
    """Return the cost of `num_draws` cells drawn from these, as the range of its sum."""
    seconds = [cost.seconds for cost in costs if cost.seconds is not None]
    return Cost(
        sum_of_draws([cost.steps for cost in costs], num_draws),
        sum_of_draws([cost.gradient_passes for cost in costs], num_draws),
        sum_of_draws([cost.work for cost in costs], num_draws),
        sum_of_draws(seconds, num_draws) if len(seconds) == len(costs) else None,
    )


class CostModel:
    """Cost of cells at the throughput of one executor, workers and threads."""

    def __init__(self, throughput: Throughput, resources: Resources) -> None:
        self.throughput, self.resources = throughput, resources
        self._paces: dict[BatchShape, tuple[Range | None, Range | None]] = {}
        self._overhead = throughput.overhead_seconds(resources.runs_on)

    def assumptions(self) -> Iterator[str]:
        """Say what its hours rest on besides measurements."""
        yield from self.throughput.assumptions(self._paces, self.resources)

    def cell(self, workload: Workload, share: Range = WHOLE) -> Cost:
        """Return the cost of a cell that runs this share of its steps."""
        return self._cost(workload, share, self._overhead)

    def scoring(self, num_sentences: float, shape: BatchShape, num_tasks: int) -> Cost:
        """Return the cost of scoring a model, by its cell's process and by tasks.

        A task starts like a cell.
        """
        overhead = self.throughput.overhead_seconds("inline").times(num_tasks)
        return self._cost(Workload(0, 0, 0.0, num_sentences, shape), WHOLE, overhead)

    def _cost(self, workload: Workload, share: Range, overhead: Range) -> Cost:
        shape, throughput = workload.shape, self.throughput
        if shape not in self._paces:
            self._paces[shape] = (
                throughput.seconds_per_work(shape, self.resources),
                throughput.seconds_per_sentence(shape, self.resources),
            )
        of_work, of_sentence = self._paces[shape]
        seconds = None
        if of_work is not None and of_sentence is not None:
            seconds = share.times(workload.step_work) * of_work
            seconds += share.times(workload.num_embedded) * of_sentence + overhead
        counts = (workload.num_steps, workload.gradient_passes, workload.work)
        steps, passes, work = (share.times(count) for count in counts)
        return Cost(steps, passes, work, seconds)
