"""Points of a space without a model of it: scrambled Sobol points, and every combination in turn."""

import math
from collections.abc import Mapping
from itertools import islice, product
from typing import Any

from scipy.stats import qmc

from rse_study.study.definition.domains import Choice, Domain, Int


def quasi_random_point(domains: Mapping[str, Domain], seed: int, index: int) -> dict[str, Any]:
    """The `index`-th point of the Sobol sequence scrambled by `seed` (Owen 1998), mapped onto the axes."""
    sobol = qmc.Sobol(len(domains), scramble=True, rng=seed)
    if index:  # scipy cannot go forward by nothing
        sobol.fast_forward(index)
    (row,) = sobol.random(1)
    return {name: at(domain, float(u)) for (name, domain), u in zip(domains.items(), row, strict=True)}


def grid_point(domains: Mapping[str, Domain], index: int) -> dict[str, Any]:
    """The `index`-th combination, the first axis slowest, beginning anew after the last. No axis is continuous."""
    options = [every_value(domain) for domain in domains.values()]
    num_points = math.prod(len(values) for values in options)
    values = next(islice(product(*options), index % num_points, None))
    return dict(zip(domains, values, strict=True))


def every_value(domain: Domain) -> tuple[Any, ...]:
    """All values of an axis that has finitely many."""
    if isinstance(domain, Int):
        low, high = domain.edges()
        return tuple(range(low, high + 1))
    assert isinstance(domain, Choice), "a continuous axis has no list of values"
    return domain.edges()


def at(domain: Domain, u: float) -> Any:
    """The value below which a share `u` in [0, 1) of the axis lies."""
    if isinstance(domain, Choice | Int):
        options = every_value(domain)
        return options[min(int(u * len(options)), len(options) - 1)]
    low, high = domain.edges()
    return float(low * (high / low) ** u) if domain.scale == "log" else float(low + u * (high - low))
