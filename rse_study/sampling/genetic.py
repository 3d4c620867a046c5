"""Genetic samplers whose generations follow from the trials alone."""

from typing import Any

from optuna import Study
from optuna.distributions import BaseDistribution
from optuna.samplers import BaseGASampler, NSGAIIISampler, NSGAIISampler, RandomSampler
from optuna.trial import FrozenTrial, TrialState


class StatelessGenetic(BaseGASampler):
    """Selects the parents of every generation anew at every ask.

    Optuna's own keep generations in attributes of the trials and parents in attributes of the study, which no ledger
    holds. Here the complete trials in their order are the generations, `population_size` of them each: with one trial
    at a time, the ones that Optuna's own go through. A sampler lives for one ask: it reads the trials once.

    Parameters
    ----------
    population_size : int
        Trials of a generation.
    mutation_seed : int
        Of values that are drawn at random. With the seed of all other draws, the number that decides on crossover would
        be a mutated value, too: both would be the first of the same stream in every ask.
    selector : StatelessGenetic or None
        Selects parents in its stead: where selection draws lots (NSGA-III), all asks of a search must draw the same.
    settings : any
        Of Optuna's sampler, the seed of all other draws among them.
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
