"""Materials that were prepared in this run, by what they depend on."""

from collections.abc import Hashable

from rse_study.training.materials import Materials, PrepareMaterials, identity_of
from rse_study.training.trial import Trial


class MaterialsCache:
    """Prepares materials once for all trials that need the same ones."""

    def __init__(self, prepare: PrepareMaterials) -> None:
        self._prepare = prepare
        self._prepared: dict[Hashable, Materials] = {}

    def of(self, trial: Trial) -> Materials:
        needs = trial.needs()
        if needs not in self._prepared:
            self._prepared[needs] = self._prepare(trial)
        return self._prepared[needs]

    def identify(self, trial: Trial, seed: int) -> str:
        return identity_of(trial, seed, self.of(trial))
