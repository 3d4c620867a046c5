"""Trials at rungs, as short as a test can say them."""

from hypothesis import strategies as st

from rse_study.search.stopping import TrialAtRung

VALUES = st.lists(st.floats(-100, 100), min_size=1, max_size=40)
DIRECTIONS = st.sampled_from(["maximize", "minimize"])


def waiting(value, values, *, trial=1000, rungs=None, direction="maximize", search_seed=0):
    """A trial with `value` at the last step of `values`: by step a list (by trial from 0) or a mapping of values."""
    by_trial = {t: dict(enumerate(at)) if isinstance(at, list) else dict(at) for t, at in values.items()}
    steps = tuple(sorted(by_trial))
    return TrialAtRung(trial, steps[-1], value, by_trial, rungs or steps, search_seed, direction)
