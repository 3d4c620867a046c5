"""A study from its first cell to its last: the one process that writes the ledger."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ray

from rse_study.on_ray import tuner
from rse_study.on_ray.agenda import Agenda, Cell
from rse_study.on_ray.handover import write_materials
from rse_study.on_ray.launch import concurrency, driver_resources, ray_session
from rse_study.on_ray.proposer import Proposer, describe_sampler
from rse_study.on_ray.searcher import CellSearcher, Watcher
from rse_study.results.ledger import Ledger
from rse_study.study.baselines import measure_baselines
from rse_study.study.record import provenance_of, study_record
from rse_study.study.validation import Checked
from rse_study.training.materials import Materials, identity_of
from rse_study.training.trial import Trial

Prepare = Callable[[Trial], Materials]


@dataclass(frozen=True)
class Place:
    """Where a study lives."""

    study: Path

    @property
    def cells(self) -> Path:
        """One folder a cell: checkpoint, model, result."""
        return self.study / "cells"

    @property
    def materials(self) -> Path:
        """What workers are handed."""
        return self.study / "materials"

    @property
    def ray(self) -> Path:
        """Ray's own notes: disposable."""
        return self.study / "ray"


def run_study(
    checked: Checked,
    directory: Path,
    prepare: Prepare,
    watcher: Watcher,
    *,
    num_cpus: int = 0,
    address: str = "",
) -> Path:
    """Run what is missing of the study and return its folder. Call it again after an interruption.

    `prepare` makes (or finds) what a trial is trained on; it is called in the driver, before a cell starts.
    Raises InputError where the study cannot run here, KeyboardInterrupt after letting go of Ray.
    """
    study, place = checked.study, Place(directory.resolve())
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(place.study))
        stock = Stock(prepare)
        base = stock.of(study.base)
        for point in checked.space.edges():
            stock.of(checked.space.apply(point))  # a misfit anywhere is refused before the study is frozen
        ledger.freeze(study_record(checked, base.dev))
        ledger.add_provenance(
            provenance_of(base, study.resources) | {"sampler": describe_sampler(study.sampler)}
        )
        agenda = Agenda(checked, ledger, _proposer(checked), place.cells, stock.identify)
        if agenda.num_left == 0:
            return place.study
        ledger.record_evaluations(measure_baselines(study.base, base, study.baselines))
        stack.enter_context(ray_session(num_cpus, address))
        most = concurrency(study.resources, ray.cluster_resources())
        searcher = CellSearcher(agenda, Packer(checked, place, stock, agenda), watcher, most)
        tuner.run(searcher, agenda.num_left, place.ray, driver_resources())
    return place.study


class Stock:
    """Materials made so far, by what they depend on: most searches need one set for all trials."""

    def __init__(self, prepare: Prepare) -> None:
        self._prepare = prepare
        self._made: dict[str, Materials] = {}

    def of(self, trial: Trial) -> Materials:
        """The materials of a trial."""
        parts = (trial.encoder, trial.corpus, trial.selection, trial.method.rtd)
        masks = trial.method.masks
        checked = (trial.batch_size, trial.max_length, masks.num_sites if masks.phi > 0 else 0)
        needs = f"{[part.fingerprint() for part in parts]} {checked} {trial.method.needs_generator}"
        if needs not in self._made:
            self._made[needs] = self._prepare(trial)
        return self._made[needs]

    def identify(self, trial: Trial, seed: int) -> str:
        """The identity of a cell."""
        return identity_of(trial, seed, self.of(trial))


class Packer:
    """A cell as the plain mapping its Tune trial is given."""

    def __init__(self, checked: Checked, place: Place, stock: Stock, agenda: Agenda) -> None:
        self._resources, self._place, self._stock, self._agenda = (
            checked.study.resources,
            place,
            stock,
            agenda,
        )

    def __call__(self, cell: Cell) -> dict[str, Any]:
        return {
            "cell": cell.identity,
            "number": cell.number,
            "trial": cell.trial.model_dump_json(),  # a text: Tune would take a nested mapping for a space of its own
            "seed": cell.seed,
            "materials": str(write_materials(self._place.materials, self._stock.of(cell.trial))),
            "directory": str(self._agenda.directory(cell.identity)),
            "storage": str(self._place.ray / "train"),
            **self._resources.model_dump(include={"workers", "threads", "gpus"}),
        }


def _proposer(checked: Checked) -> Proposer:
    study = checked.study
    domains = {axis.name: axis.domain for axis in checked.space.axes}
    return Proposer(domains, study.sampler, study.search_seed, study.objective.direction)
