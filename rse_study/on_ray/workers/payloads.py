"""The payloads of cells and baselines, made on the driver with their materials."""

from collections.abc import Hashable
from typing import Any

from rse_study.on_ray.queue.cell import Cell
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.workers.payload import BaselinePayload, CellPayload
from rse_study.study.definition.config import Baseline
from rse_study.study.definition.resources import Resources
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


class Payloads:
    """Makes the payloads of one study."""

    def __init__(self, files: StudyFiles, materials: MaterialsCache, coordinator: str) -> None:
        self._files, self._materials, self._coordinator = files, materials, coordinator

    def of_cell(self, cell: Cell, attempt: int = 0, rungs: tuple[int, ...] = ()) -> CellPayload:
        """Return the payload of an attempt at a cell; `attempt` 0 only scores it."""
        return CellPayload(
            cell=cell.identity,
            number=cell.number,
            seed=cell.seed,
            continues=cell.continues,
            attempt=attempt,
            rungs=rungs,
            coordinator=self._coordinator,
            folder=self._files.cell(cell.identity),
            train_runs=self._files.train_runs,
            keeps_items=self._files.keeps_items,
            **self._shared(cell.trial, cell.resources),
        )

    def of_baseline(self, baseline: Baseline, base: Trial, resources: Resources) -> BaselinePayload:
        """Return the payload of a baseline of `base`, the study's base trial."""
        folder = self._files.baselines()
        return BaselinePayload(baseline=baseline, folder=folder, **self._shared(base, resources))

    def _shared(self, trial: Trial, resources: Resources) -> dict[str, Any]:
        materials = self._files.hand_out(self._materials.of(trial))
        used = resources.model_dump(include={"workers", "threads", "gpus", "labels"})
        storage = self._files.storage
        where = {"storage": storage.location, "patience_s": storage.patience_s} if storage else {}
        return {"trial": trial, "materials": materials, **used, **where}
