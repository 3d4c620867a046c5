"""What the driver gives to processes that train a cell or score something."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from rse_study.on_ray.cell import Cell
from rse_study.on_ray.materials_cache import MaterialsCache
from rse_study.on_ray.study_files import StudyFiles
from rse_study.study.definition.config import Baseline, Resources
from rse_study.training.trial import Trial


@dataclass(frozen=True, kw_only=True)
class Payload:
    """What any such process needs to know."""

    trial: Trial
    """the cell's configuration, or the study's base"""
    materials: str
    """file of the trial's materials: a path, or a key in the storage"""
    folder: str
    """of results: a path, or a key in the storage"""
    storage: str = ""
    """location of the storage; empty: paths are the same on all nodes"""
    patience_s: float = 0.0
    """seconds to wait for a storage that does not answer"""
    workers: int
    """processes that train together"""
    threads: int
    """CPU threads of each worker"""
    gpus: float
    """GPUs of each worker: 0, a part of one, or 1"""
    labels: Mapping[str, str]
    """of the nodes that may run it"""

    @property
    def device(self) -> str:
        """Torch's name of the device."""
        return "cuda" if self.gpus else "cpu"


@dataclass(frozen=True, kw_only=True)
class BaselinePayload(Payload):
    """One baseline of the base, for a task that scores it."""

    baseline: Baseline
    """which of the base's baselines"""


@dataclass(frozen=True, kw_only=True)
class CellPayload(Payload):
    """One attempt at a cell."""

    cell: str
    """the cell's identity"""
    number: int
    """of the trial"""
    seed: int
    """of every random draw"""
    continues: bool
    """whether a cell that was stopped early goes on to its full budget"""
    attempt: int
    """number of this try, from 1; 0 where the cell is scored and not trained"""
    rungs: tuple[int, ...]
    """steps at which the loop waits for a verdict"""
    coordinator: str
    """name of the actor that has the verdicts"""
    train_runs: str
    """folder for Ray Train's own notes"""

    def as_config(self) -> dict[str, Any]:
        """The plain mapping that Tune and Train pass on to their functions."""
        content = {one.name: getattr(self, one.name) for one in fields(self)}
        # The trial is a text: Tune would take a nested mapping for a space of its own.
        labels = list(self.labels.items())
        return {**content, "rungs": list(self.rungs), "labels": labels, "trial": self.trial.model_dump_json()}

    @classmethod
    def from_config(cls, config: Mapping[str, Any]) -> "CellPayload":
        """What `as_config` made a mapping of."""
        trial = Trial.model_validate_json(config["trial"])
        plain = {"rungs": tuple(config["rungs"]), "labels": dict(config["labels"]), "trial": trial}
        return cls(**{**config, **plain})


class Payloads:
    """Makes the payloads of one study.

    Parameters
    ----------
    files : StudyFiles
        How workers get at results and materials.
    materials : MaterialsCache
        Prepares what a trial needs and has not got yet.
    coordinator : str
        Name of the study's coordinator.
    """

    def __init__(self, files: StudyFiles, materials: MaterialsCache, coordinator: str) -> None:
        self._files, self._materials, self._coordinator = files, materials, coordinator

    def of_cell(self, cell: Cell, attempt: int = 0, rungs: tuple[int, ...] = ()) -> CellPayload:
        """The payload of a cell.

        Parameters
        ----------
        cell : Cell
            What runs, or is scored.
        attempt : int
            Number of the try that is under way.
        rungs : tuple of int
            Steps at which it waits for a verdict.
        """
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
            **self._shared(cell.trial, cell.resources),
        )

    def of_baseline(self, baseline: Baseline, base: Trial, resources: Resources) -> BaselinePayload:
        """The payload of a baseline.

        Parameters
        ----------
        baseline : Baseline
            Which one.
        base : Trial
            The study's base, whose encoder or corpus it is made of.
        resources : Resources
            What its task may use.
        """
        folder = self._files.baselines()
        return BaselinePayload(baseline=baseline, folder=folder, **self._shared(base, resources))

    def _shared(self, trial: Trial, resources: Resources) -> dict[str, Any]:
        materials = self._files.hand_out(self._materials.of(trial))
        used = resources.model_dump(include={"workers", "threads", "gpus", "labels"})
        storage = self._files.storage
        where = {"storage": storage.location, "patience_s": storage.patience_s} if storage else {}
        return {"trial": trial, "materials": materials, **used, **where}
