import pickle
import warnings
from typing import get_args

import numpy as np
import pytest
from optuna.samplers import CmaEsSampler, NSGAIIISampler, NSGAIISampler
from scipy.stats import kstest

from rse_study.sampling.samplers import (
    OF_OPTUNA,
    WITHOUT_MODEL,
    StatelessCmaEs,
    StatelessNsga2,
    StatelessNsga3,
    grid_point,
    quasi_random_point,
)
from rse_study.study.definition.domains import Choice, Float, Int, Log
from rse_study.study.definition.parts import Sampler
from tests.cases import cases
from tests.sampling.led_by_optuna import DISTRIBUTIONS, led_by

DOMAINS = {
    "N": Int(int=(1, 4)),
    "norm": Choice(choice=("l1", "l2", "linf")),
    "phi": Choice(choice=(0.0, 0.1)),
}
WIDE = {"alpha": Log(log=(1e-6, 1e-3)), "rho": Float(float=(0, 1)), **DOMAINS}


def test_every_combination_comes_once_and_then_again():
    points = [tuple(grid_point(DOMAINS, index).values()) for index in range(4 * 3 * 2)]
    assert len(set(points)) == 24
    assert points[:2] == [(1, "l1", 0.0), (1, "l1", 0.1)]
    assert grid_point(DOMAINS, 24) == grid_point(DOMAINS, 0)


@cases("name", WITHOUT_MODEL)
def test_points_depend_on_axes_seed_and_index_alone(name):
    """Every sampler of the table: a new one is tested by its entry."""
    point, axes = WITHOUT_MODEL[name], DOMAINS if name == "grid" else WIDE
    points = [point(axes, 0, index) for index in range(8)]
    assert [point(axes, 0, index) for index in reversed(range(8))] == points[::-1]
    assert (points != [point(axes, 1, index) for index in range(8)]) == (name != "grid")
    assert all(one.keys() == axes.keys() for one in points)
    assert all(axes[axis].holds(value) for one in points for axis, value in one.items())


def test_quasi_random_points_fill_each_axis_evenly():
    points = [quasi_random_point(WIDE, 0, index) for index in range(64)]
    spread = np.log10([point["alpha"] for point in points]) / 3 + 2
    # 64 Sobol points: one in each 64th of the axis, far nearer to uniform than random ones.
    assert kstest(spread, "uniform").statistic < 1 / 32
    assert [sum(point["N"] == n for point in points) for n in (1, 2, 3, 4)] == [16, 16, 16, 16]


SHARES = [
    (Log(log=(1e-6, 1e-2)), 0.5, 1e-4),
    (Int(int=(1, 4)), 0.99, 4),
    (Int(int=(1, 4)), 0.0, 1),
]


@cases(("domain", "u", "expected"), SHARES)
def test_a_share_of_an_axis_is_a_value(domain, u, expected):
    assert domain.at(u) == pytest.approx(expected)


def test_every_sampler_a_study_may_name_is_one():
    named = set(get_args(Sampler.model_fields["name"].annotation))
    assert named == OF_OPTUNA.keys() | WITHOUT_MODEL.keys()


# The distribution computed from the trials against the optimiser that Optuna's own sampler keeps in them.


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


# Generations and parents computed from the trials against those that Optuna's own samplers keep.


SIZE = 6


def test_generations_and_parents_are_those_that_optuna_keeps():
    kept = NSGAIISampler(population_size=SIZE, seed=3)
    study = led_by(kept, num_objectives=2)
    computed = StatelessNsga2(population_size=SIZE, seed=0, mutation_seed=1)
    last = computed.get_trial_generation(study, study.trials[-1])
    assert last >= 6
    for generation in range(1, last + 1):
        mine, theirs = (one.get_population(study, generation - 1) for one in (computed, kept))
        assert numbers(mine) == numbers(theirs)
        mine, theirs = (one.get_parent_population(study, generation) for one in (computed, kept))
        assert set(numbers(mine)) == set(numbers(theirs))


def test_all_asks_draw_the_same_parents_by_lot():
    """NSGA-III breaks ties at random: by the search's seed, not by the ask's."""
    with warnings.catch_warnings(action="ignore"):
        study = led_by(NSGAIIISampler(population_size=SIZE, seed=3), num_objectives=2)

        def parents(seed, selection):
            selector = StatelessNsga3(population_size=SIZE, seed=selection, mutation_seed=0)
            one = StatelessNsga3(population_size=SIZE, seed=seed, mutation_seed=0, selector=selector)
            return [numbers(one.get_parent_population(study, generation)) for generation in range(1, 8)]

        assert parents(seed=0, selection=5) == parents(seed=1, selection=5)
        assert len({str(parents(seed=0, selection=selection)) for selection in range(5)}) > 1


def numbers(trials):
    return [trial.number for trial in trials]
