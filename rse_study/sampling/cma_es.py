"""CMA-ES that computes its distribution from the trials alone."""

from typing import Any

import numpy as np
from optuna import Study
from optuna._transform import (
    _SearchSpaceTransform,
)  # what Optuna's own CMA-ES maps points with; nothing public does
from optuna.distributions import BaseDistribution
from optuna.samplers import CmaEsSampler
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState


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
