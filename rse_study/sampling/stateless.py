"""Samplers of Optuna that compute their state from the trials alone."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import optuna
from optuna import Study
from optuna._transform import (
    _SearchSpaceTransform,
)  # what Optuna's own CMA-ES maps points with; nothing public does
from optuna.distributions import BaseDistribution
from optuna.samplers import (
    BaseGASampler,
    CmaEsSampler,
    GPSampler,
    NSGAIIISampler,
    NSGAIISampler,
    RandomSampler,
)
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState, create_trial


class StatelessCmaEs(CmaEsSampler):
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


class GpOfAllTrials(GPSampler):
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
            imputed.add_trial(_with_result(one, values) if _has_no_value(one) else one)
        return super().sample_relative(imputed, trial, search_space)


def _has_no_value(trial: FrozenTrial) -> bool:
    ended = trial.state in (TrialState.PRUNED, TrialState.FAIL)
    return ended and DISCARDED not in trial.user_attrs


def _with_result(trial: FrozenTrial, values: list[float]) -> FrozenTrial:
    return create_trial(
        state=TrialState.COMPLETE,
        params=trial.params,
        distributions=trial.distributions,
        values=values,
    )


def _worst_values(complete: Sequence[FrozenTrial], directions: Sequence[StudyDirection]) -> list[float]:
    columns = np.array([trial.values for trial in complete]).T
    return [
        float(column.min() if direction == StudyDirection.MAXIMIZE else column.max())
        for column, direction in zip(columns, directions, strict=True)
    ]


class StatelessGenetic(BaseGASampler):
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
        self._uniform = RandomSampler(seed=mutation_seed)
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


class StatelessNsga2(StatelessGenetic, NSGAIISampler):
    """NSGA-II (Deb et al. 2002) of Optuna."""


class StatelessNsga3(StatelessGenetic, NSGAIIISampler):
    """NSGA-III (Deb and Jain 2014) of Optuna."""
