"""Which trials of a search are let run on, and which rungs a trial has.

Both follow from the search seed and the trial's number alone. A share of the trials is taken evenly from beginning to
end: trial n stands at the fractional part of (offset + n * step), where the step is irrational and the offset comes
from the search seed. Of any n trials in a row a share s holds s * n, give or take two or three, and no period of a
sampler can fall in with it.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from math import sqrt
from typing import Any

# Independent of each other: within each bracket the same share is let run on.
STEPS = {"bracket": (sqrt(5) - 1) / 2, "let run": sqrt(2) - 1}


def even_draw(search_seed: int, purpose: str, trial: int) -> float:
    """Return a trial's place in [0, 1).

    Parameters
    ----------
    search_seed
        Of the study.
    purpose
        A key of `STEPS`.
    trial
        Its number.
    """
    return (_offset(search_seed, purpose) + trial * STEPS[purpose]) % 1.0


@cache
def _offset(search_seed: int, purpose: str) -> float:
    digest = hashlib.sha256(repr((search_seed, purpose)).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def is_let_run(search_seed: int, trial: int, share: float) -> bool:
    """Return whether a trial runs to the full budget whatever the verdicts on it.

    Parameters
    ----------
    search_seed
        Of the study.
    trial
        Its number.
    share
        How many of all trials do.
    """
    return even_draw(search_seed, "let run", trial) < share


@cache
def bracket_sizes(num_rungs: int, factor: int) -> tuple[int, ...]:
    """Return the sizes of Hyperband's brackets (Li et al. 2018, Algorithm 1).

    Bracket b begins at rung b; with s = num_rungs - b rungs it has ceil((num_rungs + 1) factor^s / (s + 1)) trials, so
    that all brackets train about as many steps. The last one has no rung.

    >>> bracket_sizes(2, 3)
    (9, 5, 3)

    Parameters
    ----------
    num_rungs
        Of the first bracket.
    factor
        One in so many goes on.
    """
    numbers_of_rungs = range(num_rungs, -1, -1)
    return tuple(-(-(num_rungs + 1) * factor**s // (s + 1)) for s in numbers_of_rungs)


@cache
def bracket_of(search_seed: int, trial: int, num_rungs: int, factor: int) -> int:
    """Return the bracket a trial belongs to, counted from 0: the one with all rungs.

    Parameters
    ----------
    search_seed
        Of the study.
    trial
        Its number.
    num_rungs
        Of the first bracket.
    factor
        One in so many goes on.
    """
    sizes = bracket_sizes(num_rungs, factor)
    at = even_draw(search_seed, "bracket", trial) * sum(sizes)
    return next(bracket for bracket, end in enumerate(accumulate(sizes)) if at < end)


def rungs_of_trial(
    rungs: Sequence[int], rule: Mapping[str, Any], search_seed: int, trial: int
) -> tuple[int, ...]:
    """Return the steps at which one trial waits for a verdict.

    Under Hyperband they are those of its bracket.

    Parameters
    ----------
    rungs
        Of the study.
    rule
        Its `early_stopping`, as its file has it.
    search_seed
        Of the study.
    trial
        The trial's number.
    """
    if rule.get("name") != "hyperband":
        return tuple(rungs)
    return tuple(rungs[bracket_of(search_seed, trial, len(rungs), rule["factor"]) :])
