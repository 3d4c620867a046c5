"""Generations and parents computed from the trials against those that Optuna's own samplers keep."""

import warnings

from optuna.samplers import NSGAIIISampler, NSGAIISampler

from rse_study.sampling.samplers import StatelessNsga2, StatelessNsga3
from tests.sampling.led_by_optuna import led_by

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
