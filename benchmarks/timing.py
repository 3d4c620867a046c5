"""CPU seconds of contenders that take turns, so that load affects all alike."""

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

Contender = Callable[[int], object]
"""does one piece of work, given the number of the round"""


@dataclass(frozen=True)
class Spread:
    """The median and the range of some measurements."""

    median: float
    least: float
    greatest: float

    @staticmethod
    def of(values: list[float]) -> "Spread":
        """Return the spread of at least one value."""
        return Spread(statistics.median(values), min(values), max(values))

    def __str__(self) -> str:
        return f"{self.median:.3g} ({self.least:.3g} to {self.greatest:.3g})"


def take_turns(contenders: Mapping[str, Contender], repeat: int) -> dict[str, list[float]]:
    """Return each contender's CPU seconds by round; every other round goes backwards.

    A first round is not timed: it allocates what the others need.
    """
    seconds: dict[str, list[float]] = {name: [] for name in contenders}
    for number in range(repeat + 1):
        order = list(contenders)[:: 1 if number % 2 else -1]
        for name in order:
            begun = time.process_time()
            contenders[name](number)
            if number:
                seconds[name].append(time.process_time() - begun)
    return seconds


def ratios(slower: list[float], faster: list[float]) -> Spread:
    """Return the spread of the ratios slower / faster, round by round."""
    return Spread.of([one / other for one, other in zip(slower, faster, strict=True)])
