"""Genetic samplers that compute their generations from the trials alone."""

from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseGASampler, NSGAIIISampler, NSGAIISampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState


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
