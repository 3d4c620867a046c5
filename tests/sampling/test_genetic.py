"""Generations and parents computed from the trials against those that Optuna's own samplers keep."""

import warnings

import optuna
import pytest
from optuna.samplers import NSGAIIISampler, NSGAIISampler

from rse_study.sampling.genetic import StatelessNsga2, StatelessNsga3
from rse_study.sampling.optuna_types import STATES, distribution_of
from tests.on_ray.surface import DOMAINS, cost_of, outcome_of, value_of

DISTRIBUTIONS = {name: distribution_of(domain) for name, domain in DOMAINS.items()}
SIZE = 6


def led_by(sampler):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(directions=["maximize", "minimize"], sampler=sampler)
    for number in range(60):
        trial = study.ask(DISTRIBUTIONS)
        outcome = outcome_of(number)
        if outcome == "complete":
            study.tell(trial, [value_of(trial.params), cost_of(trial.params)])
        else:
            study.tell(trial, state=STATES[outcome])
    return study


def test_generations_and_parents_are_those_that_optuna_keeps():
    kept = NSGAIISampler(population_size=SIZE, seed=3)
    study = led_by(kept)
    computed = StatelessNsga2(population_size=SIZE, seed=0, mutation_seed=1)
    last = computed.get_trial_generation(study, study.trials[-1])
    assert last >= 6
    for generation in range(1, last + 1):
        assert numbers(computed.get_population(study, generation - 1)) == numbers(
            kept.get_population(study, generation - 1)
        )
        assert set(numbers(computed.get_parent_population(study, generation))) == set(
            numbers(kept.get_parent_population(study, generation))
        )


def test_all_asks_draw_the_same_parents_by_lot():
    """NSGA-III breaks ties at random: by the search's seed, not by the ask's."""
    with warnings.catch_warnings(action="ignore"):
        study = led_by(NSGAIIISampler(population_size=SIZE, seed=3))

        def parents(seed, selection):
            selector = StatelessNsga3(population_size=SIZE, seed=selection, mutation_seed=0)
            one = StatelessNsga3(population_size=SIZE, seed=seed, mutation_seed=0, selector=selector)
            return [numbers(one.get_parent_population(study, generation)) for generation in range(1, 8)]

        assert parents(seed=0, selection=5) == parents(seed=1, selection=5)
        assert len({str(parents(seed=0, selection=selection)) for selection in range(5)}) > 1


@pytest.mark.parametrize("cls", [StatelessNsga2, StatelessNsga3])
def test_a_search_of_many_generations_can_be_asked(cls):
    """1,200 generations of two: no recursion through them."""
    with warnings.catch_warnings(action="ignore"):
        sampler = cls(population_size=2, seed=0, mutation_seed=1)
    study = optuna.create_study(directions=["maximize"])
    for number in range(2400):
        params = {"alpha": 1e-5, "N": 1 + number % 16, "norm": "l1", "phi": 0.0}
        study.add_trial(
            optuna.trial.create_trial(params=params, distributions=DISTRIBUTIONS, value=float(number % 97))
        )
    study.sampler = sampler
    assert study.ask(DISTRIBUTIONS).params.keys() == DOMAINS.keys()


def numbers(trials):
    return [trial.number for trial in trials]
