"""Samplers: who proposes the trials of a search.

A new one is an entry of a table below and a name in `study.definition.config.Sampler`.
"""

import math
from collections.abc import Callable, Mapping
from itertools import islice, product
from typing import Any

import optuna
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from scipy.stats import qmc

from rse_study.study.definition.config import Sampler
from rse_study.study.definition.domains import Domain

Domains = Mapping[str, Domain]
# Written out, because the defaults move between versions of Optuna; the ledger's provenance holds them.
TPE: dict[str, Any] = {
    "multivariate": True,
    "group": False,
    "constant_liar": True,
    "n_ei_candidates": 24,
}


def quasi_random_point(domains: Domains, seed: int, index: int) -> dict[str, Any]:
    """A point of the Sobol sequence scrambled by `seed`, mapped onto the axes.

    Owen (1998): Scrambling Sobol' and Niederreiter-Xing points.

    Parameters
    ----------
    domains : mapping of str to Domain
        The axes, in order.
    seed : int
        Of the scrambling.
    index : int
        Which point, from 0.
    """
    sobol = qmc.Sobol(len(domains), scramble=True, rng=seed)
    if index:  # scipy cannot go forward by nothing
        sobol.fast_forward(index)
    (row,) = sobol.random(1)
    return {name: domain.at(float(u)) for (name, domain), u in zip(domains.items(), row, strict=True)}


def grid_point(domains: Domains, index: int) -> dict[str, Any]:
    """A combination of values, the first axis slowest, by its index.

    It begins anew after the last combination. No axis is continuous.
    """
    options = [domain.values() for domain in domains.values()]
    num_points = math.prod(len(values) for values in options)
    values = next(islice(product(*options), index % num_points, None))
    return dict(zip(domains, values, strict=True))


WITHOUT_MODEL: dict[str, Callable[[Domains, int, int], dict[str, Any]]] = {
    "quasi_random": quasi_random_point,
    "grid": lambda domains, _, index: grid_point(domains, index),
}
"""Samplers whose points depend on axes, seed and index alone."""

OF_OPTUNA: dict[str, Callable[..., BaseSampler]] = {"tpe": TPESampler, "random": RandomSampler}
"""Samplers that Optuna asks."""


def point_of(sampler: Sampler, domains: Domains, seed: int, index: int) -> dict[str, Any] | None:
    """The point of a sampler without a model; None where Optuna is to be asked.

    Parameters
    ----------
    sampler : Sampler
        As the study names it.
    domains : mapping of str to Domain
        The axes, in order.
    seed : int
        Of the search.
    index : int
        Which point, from 0.
    """
    point = WITHOUT_MODEL.get(sampler.name)
    return None if point is None else point(domains, seed, index)


def make_sampler(sampler: Sampler, seed: int) -> BaseSampler:
    """A fresh sampler of Optuna."""
    return OF_OPTUNA[sampler.name](seed=seed, **_settings(sampler))


def describe_sampler(sampler: Sampler) -> dict[str, Any]:
    """Everything that decides proposals, for the record."""
    return {"optuna": optuna.__version__, "name": sampler.name, **_settings(sampler)}


def _settings(sampler: Sampler) -> dict[str, Any]:
    return {**TPE, "n_startup_trials": sampler.num_startup} if sampler.name == "tpe" else {}
