"""Samplers by name, each an entry of a table below, or by class."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from itertools import islice, product
from pathlib import Path
from typing import Any

import numpy as np
import optuna
from optuna import Study, samplers

# Optuna's own CMA-ES maps points with it; nothing public does.
from optuna._transform import _SearchSpaceTransform
from optuna.distributions import BaseDistribution
from optuna.exceptions import ExperimentalWarning
from optuna.samplers.nsgaii import UniformCrossover
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial
from scipy.stats import qmc

from rse_study.study.checking.search_methods import construct_sampler, sampler_class, source_of
from rse_study.study.definition.domains import Domain
from rse_study.study.definition.parts import Sampler


class StatelessCmaEs(samplers.CmaEsSampler):
    """CMA-ES (Hansen 2016) that replays all earlier generations at every ask.

    Optuna's keeps its optimiser, pickled, in attributes of the trials, which no ledger holds. Here every `popsize`
    complete trials after the start-up are a generation: with one trial at a time, the same ones. A trial that ends a
    generation late counts there; Optuna's leaves it out. Categories come from the independent sampler.
    """

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if not search_space or len(complete) < self._n_startup_trials:
            return {}
        unit_cube = _SearchSpaceTransform(search_space, transform_0_1=True)
        optimizer = self._init_optimizer(unit_cube, study.direction)  # seeded by this ask's seed
        sign = 1 if study.direction == StudyDirection.MINIMIZE else -1

        def solution(one: FrozenTrial) -> tuple[np.ndarray, float]:
            assert one.value is not None, "a complete trial has a value"
            return unit_cube.transform(one.params), sign * one.value

        drawn, size = complete[self._n_startup_trials :], optimizer.population_size
        for start in range(0, len(drawn) - size + 1, size):
            optimizer.tell([solution(one) for one in drawn[start : start + size]])
        return dict(unit_cube.untransform(optimizer.ask()))


DISCARDED = "discarded"
"""user attribute of a proposal that was known already, and is no trial"""


class GpOfAllTrials(samplers.GPSampler):
    """A Gaussian process that takes stopped and failed trials for the worst one.

    Optuna's leaves them out, and would propose such a point again and again: nothing that it knows has changed.
    """

    def sample_relative(
        self, study: Study, trial: FrozenTrial, search_space: dict[str, BaseDistribution]
    ) -> dict[str, Any]:
        complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        if not complete:
            return {}
        # In a storage of its own, a trial's id is its place in the study: the same there as here.
        imputed = optuna.create_study(directions=study.directions)
        values = _worst_values(complete, study.directions)
        for one in study.get_trials(deepcopy=False):
            if one.state in (TrialState.PRUNED, TrialState.FAIL) and DISCARDED not in one.user_attrs:
                one = create_trial(params=one.params, distributions=one.distributions, values=values)
            imputed.add_trial(one)
        return super().sample_relative(imputed, trial, search_space)


def _worst_values(complete: Sequence[FrozenTrial], directions: Sequence[StudyDirection]) -> list[float]:
    columns = np.array([trial.values for trial in complete]).T
    return [
        float(column.min() if direction == StudyDirection.MAXIMIZE else column.max())
        for column, direction in zip(columns, directions, strict=True)
    ]


class StatelessGenetic(samplers.BaseGASampler):
    """A genetic sampler that selects the parents of all generations at every ask.

    Optuna's keep generations and parents in attributes, which no ledger holds. Here every `population_size` complete
    trials are a generation: with one trial at a time, the same ones. A sampler lives for one ask.

    `mutation_seed` differs from the seed of all other draws: else the number that decides on crossover would be a
    mutated value, too. `selector` selects the parents where that draws lots (NSGA-III): all asks must draw the same.
    """

    def __init__(
        self,
        *,
        population_size: int,
        mutation_seed: int,
        selector: "StatelessGenetic | None" = None,
        **settings: Any,
    ) -> None:
        super().__init__(population_size=population_size, **settings)
        self._size, self._selector = population_size, selector
        self._uniform = samplers.RandomSampler(seed=mutation_seed)
        self._complete: list[FrozenTrial] | None = None
        self._parents: list[list[FrozenTrial]] = [[]]  # by generation; the first has none

    def get_trial_generation(self, study: Study, trial: FrozenTrial) -> int:
        return len(self._trials(study)) // self._size

    def get_population(self, study: Study, generation: int) -> list[FrozenTrial]:
        start = generation * self._size
        return self._trials(study)[start : start + self._size]

    def get_parent_population(self, study: Study, generation: int) -> list[FrozenTrial]:
        if self._selector is not None:
            return self._selector.get_parent_population(study, generation)
        while len(self._parents) <= generation:
            self._parents.append(self.select_parent(study, len(self._parents)))
        return self._parents[generation]

    def sample_independent(
        self, study: Study, trial: FrozenTrial, param_name: str, param_distribution: BaseDistribution
    ) -> Any:
        return self._uniform.sample_independent(study, trial, param_name, param_distribution)

    def _trials(self, study: Study) -> list[FrozenTrial]:
        if self._complete is None:
            self._complete = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return self._complete


class StatelessNsga2(StatelessGenetic, samplers.NSGAIISampler):
    """NSGA-II (Deb et al. 2002) of Optuna."""


class StatelessNsga3(StatelessGenetic, samplers.NSGAIIISampler):
    """NSGA-III (Deb and Jain 2014) of Optuna."""


Domains = Mapping[str, Domain]
# Written out, because the defaults move between versions of Optuna; the ledger's provenance holds them.
TPE: dict[str, Any] = {"multivariate": True, "group": False, "constant_liar": True, "n_ei_candidates": 24}
OF_CONDITIONS: dict[str, dict[str, Any]] = {"tpe": {"group": True}}
"""settings that a conditional space changes: axes that occur together are modelled as a group"""
GP: dict[str, Any] = {"deterministic_objective": False, "warn_independent_sampling": False}
CMA_ES: dict[str, Any] = {
    "n_startup_trials": 1,  # it starts in the middle of the space, which Optuna learns from a first complete trial
    "consider_pruned_trials": False,
    "use_separable_cma": False,
    "with_margin": False,  # would need the points before they were rounded, which no ledger holds
    "lr_adapt": False,
    "warn_independent_sampling": False,
}
NSGA2: dict[str, Any] = {
    "mutation": None,  # a mutated axis is drawn anew, uniformly
    "mutation_prob": None,  # 1 / number of axes
    "crossover_prob": 0.9,
    "swapping_prob": 0.5,
}
NSGA3: dict[str, Any] = NSGA2 | {"dividing_parameter": 3}


def quasi_random_point(domains: Domains, seed: int, index: int) -> dict[str, Any]:
    """Return a point of the Sobol sequence that `seed` scrambles (Owen 1998)."""
    sobol = qmc.Sobol(len(domains), scramble=True, rng=seed)
    if index:  # scipy cannot go forward by nothing
        sobol.fast_forward(index)
    (row,) = sobol.random(1)
    return {name: domain.at(float(u)) for (name, domain), u in zip(domains.items(), row, strict=True)}


def grid_point(domains: Domains, index: int) -> dict[str, Any]:
    """Return a combination of values by its index, cyclically, the first axis slowest."""
    options = [domain.values() for domain in domains.values()]
    num_points = math.prod(len(values) for values in options)
    values = next(islice(product(*options), index % num_points, None))
    return dict(zip(domains, values, strict=True))


WITHOUT_MODEL: dict[str, Callable[[Domains, int, int], dict[str, Any]]] = {
    "quasi_random": quasi_random_point,
    "grid": lambda domains, _, index: grid_point(domains, index),
}
"""samplers whose points depend on axes, seed and index alone"""

MakeSampler = Callable[[dict[str, Any], int, int], samplers.BaseSampler]


def _genetic(cls: type[StatelessGenetic]) -> MakeSampler:
    def make(settings: dict[str, Any], seed: int, search_seed: int) -> samplers.BaseSampler:
        told = settings | {"crossover": UniformCrossover(settings["swapping_prob"])}
        # NSGA-III: its interface may change.
        with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
            selector = cls(seed=search_seed, mutation_seed=_another(search_seed), **told)
            return cls(seed=seed, mutation_seed=_another(seed), selector=selector, **told)

    return make


def _tpe(settings: dict[str, Any], seed: int, _: int) -> samplers.BaseSampler:
    # Its group: its interface may change.
    with warnings.catch_warnings(action="ignore", category=ExperimentalWarning):
        return samplers.TPESampler(seed=seed, **settings)


def _cma_es(settings: dict[str, Any], seed: int, _: int) -> samplers.BaseSampler:
    categories = samplers.RandomSampler(seed=_another(seed))
    return StatelessCmaEs(seed=seed, independent_sampler=categories, **settings)


def _another(seed: int) -> int:
    """Return the seed of a second stream beside that of `seed`."""
    return (seed + 1) % 2**32


OF_OPTUNA: dict[str, MakeSampler] = {
    "tpe": _tpe,
    "random": lambda settings, seed, _: samplers.RandomSampler(seed=seed, **settings),
    "gp": lambda settings, seed, _: GpOfAllTrials(seed=seed, **settings),
    "cma_es": _cma_es,
    "nsga2": _genetic(StatelessNsga2),
    "nsga3": _genetic(StatelessNsga3),
}
"""samplers of Optuna's kind, made from their settings, this ask's seed and the search's"""

SETTINGS: dict[str, Callable[[Sampler], dict[str, Any]]] = {
    "tpe": lambda sampler: TPE | {"n_startup_trials": sampler.num_startup},
    "gp": lambda sampler: GP | {"n_startup_trials": sampler.num_startup},
    "cma_es": lambda sampler: CMA_ES | {"popsize": sampler.population_size},
    "nsga2": lambda sampler: NSGA2 | {"population_size": sampler.population_size},
    "nsga3": lambda sampler: NSGA3 | {"population_size": sampler.population_size},
}
"""all settings of Optuna's constructors but the seed; the other samplers have none"""


def point_of(sampler: Sampler, domains: Domains, seed: int, index: int) -> dict[str, Any] | None:
    """Return a point of a sampler without a model; None for samplers that Optuna asks."""
    point = WITHOUT_MODEL.get(sampler.name)
    return None if point is None else point(domains, seed, index)


def make_sampler(
    sampler: Sampler, seed: int, search_seed: int, *, is_conditional: bool = False, folder: Path = Path()
) -> samplers.BaseSampler:
    """Return a new sampler for one ask; `search_seed` is for what all asks draw alike."""
    if sampler.class_ is not None:
        made: samplers.BaseSampler = construct_sampler(sampler, folder, seed)
        return made
    return OF_OPTUNA[sampler.name](_settings(sampler, is_conditional), seed, search_seed)


def describe_sampler(
    sampler: Sampler, *, is_conditional: bool = False, folder: Path = Path()
) -> dict[str, Any]:
    """Return all that decides proposals; of a class also the sha256 of its file."""
    if sampler.class_ is not None:
        source = source_of(sampler_class(sampler, folder))
        described = {"class": sampler.class_, "source": source, "settings": sampler.settings}
        return {"optuna": optuna.__version__, **described}
    versions = {name: version(name) for name in ("cmaes",) if sampler.name == "cma_es"}
    settings = _settings(sampler, is_conditional)
    return {"optuna": optuna.__version__, **versions, "name": sampler.name, **settings}


def _settings(sampler: Sampler, is_conditional: bool) -> dict[str, Any]:
    of = SETTINGS.get(sampler.name)
    settings = {} if of is None else of(sampler)
    return settings | OF_CONDITIONS.get(sampler.name, {}) if is_conditional else settings
