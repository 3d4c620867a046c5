"""A search of the surface that Optuna leads with a sampler of its own, with pruned and failed trials."""

import optuna

from rse_study.sampling.optuna_types import STATES, distribution_of
from tests.on_ray.surface import DOMAINS, cost_of, outcome_of, value_of

DISTRIBUTIONS = {name: distribution_of(domain) for name, domain in DOMAINS.items()}


def led_by(sampler, num_objectives=1):
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    directions = ["maximize", "minimize"][:num_objectives]
    study = optuna.create_study(directions=directions, sampler=sampler)
    for number in range(60):
        trial, outcome = study.ask(DISTRIBUTIONS), outcome_of(number)
        values = [value_of(trial.params), cost_of(trial.params)][:num_objectives]
        study.tell(trial, values if outcome == "complete" else None, state=STATES[outcome])
    return study
