"""Even draws of trials, by the search seed and the trial's number alone.

Trial n stands at the fractional part of (offset + n * step), with an irrational step and an offset from the search
seed: any n trials in a row hold s * n of a share s, give or take two or three, whatever a sampler's period.
"""

import hashlib
from functools import cache
from math import sqrt

# Independent of each other: within each bracket the same share is let run on.
STEPS = {"bracket": (sqrt(5) - 1) / 2, "let run": sqrt(2) - 1}


def even_draw(search_seed: int, purpose: str, trial: int) -> float:
    """Return a trial's place in [0, 1) for a purpose of `STEPS`."""
    return (_offset(search_seed, purpose) + trial * STEPS[purpose]) % 1.0


@cache
def _offset(search_seed: int, purpose: str) -> float:
    digest = hashlib.sha256(repr((search_seed, purpose)).encode()).digest()
    return int.from_bytes(digest[:4], "big") / 2**32


def is_let_run(search_seed: int, trial: int, share: float) -> bool:
    """Return whether a trial runs to the full budget whatever the verdicts on it."""
    return even_draw(search_seed, "let run", trial) < share
