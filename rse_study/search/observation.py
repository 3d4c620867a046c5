"""The end of a trial as a sampler sees it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

TrialOutcome = Literal["complete", "pruned", "failed", "running"]


@dataclass(frozen=True)
class Observation:
    """How a trial ended."""

    outcome: TrialOutcome
    values: tuple[float, ...] = ()
    """objectives at the last step; none unless complete"""


RUNNING = Observation("running")


def judged(status: str, values: Sequence[float]) -> Observation:
    """Return what a sampler learns of a cell: last values, never the best so far."""
    if status == "stopped_early":
        return Observation("pruned")
    if status == "complete" and all(map(math.isfinite, values)):
        return Observation("complete", tuple(values))
    return Observation("failed")
