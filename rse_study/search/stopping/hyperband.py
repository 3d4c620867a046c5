"""Hyperband (Li et al. 2018) with asynchronous brackets, as in Li et al. 2020.

The brackets are not run one after the other: each trial belongs to one, by its number and the search seed, and a
bracket stops its trials as `asha` does.
"""

import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from typing import Literal

from rse_study.search.stopping.asha import is_among_the_best
from rse_study.search.stopping.rule import StoppingRule, TrialAtRung, geometric
from rse_study.spec import field


class Hyperband(StoppingRule):
    """Hyperband (Li et al. 2018) with asynchronous brackets.

    Each bracket begins one rung later than the one before, the last has none. Trials are dealt out in Hyperband's
    proportions; in a bracket the rule is that of `asha`.
    """

    name: Literal["hyperband"] = "hyperband"
    """of the rule"""
    factor: int = field(3, ge=2)
    """one in so many of a bracket goes on; the next rung is so many times as far, below the full budget"""

    def rungs(self, num_steps: int) -> tuple[int, ...]:
        return geometric(self.first, self.factor, num_steps)

    @property
    def condition(self) -> str:
        return f"among the best 1/{self.factor} of its bracket so far"

    def passes(self, waiting: TrialAtRung) -> bool:
        seed, num_rungs = waiting.search_seed, len(waiting.rungs)
        own = bracket_of(seed, waiting.trial, num_rungs, self.factor)
        peers = {n for n in waiting.others() if bracket_of(seed, n, num_rungs, self.factor) == own}
        return is_among_the_best(waiting, self.factor, peers)

    def rungs_of_trial(self, rungs: Sequence[int], search_seed: int, trial: int) -> tuple[int, ...]:
        return tuple(rungs[bracket_of(search_seed, trial, len(rungs), self.factor) :])

    def exceptions(self, rungs: Sequence[int]) -> Iterator[str]:
        sizes = bracket_sizes(len(rungs), self.factor)
        begins = [*(f"stopped from step {t} on" for t in rungs), "never"]
        shares = ", ".join(f"{size} {begin}" for size, begin in zip(sizes, begins, strict=True))
        yield f"brackets: of {sum(sizes)} trials {shares}"


@cache
def bracket_sizes(num_rungs: int, factor: int) -> tuple[int, ...]:
    """Return the sizes of Hyperband's brackets (Li et al. 2018, Algorithm 1).

    Bracket b begins at rung b; with s = num_rungs - b rungs it has ceil((num_rungs + 1) factor^s / (s + 1)) trials, so
    that all brackets train about as many steps. The last one has no rung.

    >>> bracket_sizes(2, 3)
    (9, 5, 3)
    """
    numbers_of_rungs = range(num_rungs, -1, -1)
    return tuple(-(-(num_rungs + 1) * factor**s // (s + 1)) for s in numbers_of_rungs)


@cache
def bracket_of(search_seed: int, trial: int, num_rungs: int, factor: int) -> int:
    """Return the bracket of a trial, counted from 0: the one with all rungs.

    It follows from the fractional part of (offset + trial * golden ratio), with an offset from the search seed: any n
    trials in a row hold s * n of a share s, give or take two or three, whatever a sampler's period.
    """
    sizes = bracket_sizes(num_rungs, factor)
    at = (_offset(search_seed) + trial * (sqrt(5) - 1) / 2) % 1.0 * sum(sizes)
    return next(bracket for bracket, end in enumerate(accumulate(sizes)) if at < end)


@cache
def _offset(search_seed: int) -> float:
    digest = hashlib.sha256(repr((search_seed, "bracket")).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32
