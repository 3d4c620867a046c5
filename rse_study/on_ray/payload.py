"""Where a study lives, and what its trials are trained on there."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.on_ray.cell import Cell
from rse_study.on_ray.handover import write_materials
from rse_study.results.schema import baselines_folder, cell_folder
from rse_study.study.definition.config import Resources
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial

PrepareMaterials = Callable[[Trial], Materials]


@dataclass(frozen=True)
class StudyFolders:
    """The folders of a study."""

    study: Path

    @property
    def materials(self) -> Path:
        """What workers are handed."""
        return self.study / "materials"

    @property
    def ray(self) -> Path:
        """Ray's own notes: disposable."""
        return self.study / "ray"


class MaterialsCache:
    """Materials made so far, by what they depend on: most studies need one set for all trials."""

    def __init__(self, prepare: PrepareMaterials) -> None:
        self._prepare = prepare
        self._made: dict[str, Materials] = {}

    def of(self, trial: Trial) -> Materials:
        """The materials of a trial."""
        parts = (trial.encoder, trial.corpus, trial.selection)
        method = trial.method
        checked = (
            trial.batch_size,
            trial.max_length,
            method.num_sites,
            method.generator,
            method.needs_synonyms,
        )
        needs = f"{[part.canonical_json() for part in parts]} {checked}"
        if needs not in self._made:
            self._made[needs] = self._prepare(trial)
        return self._made[needs]

    def identify(self, trial: Trial, seed: int) -> str:
        """The identity of a cell."""
        return identity_of(trial, seed, self.of(trial))


class Packer:
    """A cell as the plain mapping its Tune trial is given."""

    def __init__(self, place: StudyFolders, stock: MaterialsCache, desk: str) -> None:
        self._place, self._stock, self._desk = place, stock, desk

    def __call__(self, cell: Cell, attempt: int = 0, rungs: tuple[int, ...] = ()) -> dict[str, Any]:
        return {
            "cell": cell.identity,
            "number": cell.number,
            "attempt": attempt,
            "trial": cell.trial.model_dump_json(),  # a text: Tune would take a nested mapping for a space of its own
            "seed": cell.seed,
            "continues": cell.continues,
            "rungs": list(rungs),
            "desk": self._desk,
            "materials": str(write_materials(self._place.materials, self._stock.of(cell.trial))),
            "directory": str(cell_folder(self._place.study, cell.identity)),
            "storage": str(self._place.ray / "train"),
            **_used(cell.resources),
        }

    def base(self, trial: Trial, resources: Resources) -> dict[str, Any]:
        """What baselines are measured on, for a task of their own."""
        return {
            "trial": trial.model_dump_json(),
            "materials": str(write_materials(self._place.materials, self._stock.of(trial))),
            "directory": str(baselines_folder(self._place.study)),
            **_used(resources),
        }


def _used(resources: Resources) -> dict[str, Any]:
    return resources.model_dump(include={"workers", "threads", "gpus"})
