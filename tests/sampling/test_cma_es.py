"""The distribution computed from the trials against the optimiser that Optuna's own sampler keeps in them."""

import pickle

import numpy as np
from optuna.samplers import CmaEsSampler

from rse_study.sampling.samplers import StatelessCmaEs
from tests.sampling.led_by_optuna import DISTRIBUTIONS, led_by


def optimizer_kept(study):
    """The last one that Optuna's sampler pickled into a trial."""
    for trial in reversed(study.trials):
        parts = [value for key, value in trial.system_attrs.items() if key.startswith("cma:optimizer")]
        if parts:
            return pickle.loads(bytes.fromhex("".join(parts)))
    raise AssertionError("no generation was full")


def optimizer_computed(study):
    """The one that the stateless sampler asks."""
    seen = []

    class Recording(StatelessCmaEs):
        def _init_optimizer(self, *arguments):
            seen.append(super()._init_optimizer(*arguments))
            return seen[-1]

    study.sampler = Recording(popsize=6, seed=0, warn_independent_sampling=False)
    study.ask(DISTRIBUTIONS)
    return seen[-1]


def test_the_distribution_is_the_one_that_optuna_keeps():
    study = led_by(CmaEsSampler(popsize=6, seed=3, warn_independent_sampling=False))
    kept, computed = optimizer_kept(study), optimizer_computed(study)
    assert kept.generation == computed.generation >= 6
    for matrix in ("_mean", "_sigma", "_C", "_pc", "_p_sigma"):
        np.testing.assert_allclose(getattr(computed, matrix), getattr(kept, matrix), rtol=1e-9, atol=1e-12)
