"""Ray, its desk and its capacity, for as long as a run lasts: started when the first cell needs it, not before."""

import hashlib
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import ray

from rse_study.on_ray import tuner
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.cell_queue import CellQueue
from rse_study.on_ray.coordinator import Coordinator
from rse_study.on_ray.launch import concurrency, ray_session, trial_resources
from rse_study.on_ray.payload import MaterialsCache, Packer, StudyFolders
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.trainable import run_inline, run_on_train
from rse_study.on_ray.watchdog import Watchdog
from rse_study.study.definition.config import Resources


class RayRuntime:
    """Where cells run. `closing`: set as soon as no other cell is to start."""

    def __init__(
        self, stack: ExitStack, place: StudyFolders, stock: MaterialsCache, num_cpus: int, address: str
    ) -> None:
        self._stack, self._place, self._stock = stack, place, stock
        self._num_cpus, self._address = num_cpus, address
        self._desk: Coordinator | None = None
        self.closing = Event()

    def open(self, resources: Resources) -> int:
        """Start Ray if it is not running yet; how many cells fit at a time. InputError where none does."""
        if self._desk is None:
            self._stack.enter_context(ray_session(self._num_cpus, self._address))
            self._desk = Coordinator(f"desk-{_short_hash(self._place.study)}")
            self._stack.callback(self._desk.close)
        return concurrency(resources, ray.cluster_resources())

    @property
    def packer(self) -> Packer:
        """Packs cells for this room's workers."""
        return Packer(self._place, self._stock, self._desk.name if self._desk else "")

    def run(self, agenda: CellQueue, resources: Resources, watcher: StudyCallback) -> None:
        """Run all cells of an agenda, with what one cell uses."""
        if agenda.num_left == 0 or self.closing.is_set():
            return
        most = self.open(resources)
        assert self._desk is not None
        searcher = CellSearcher(agenda, self.packer, self._desk, watcher, most, self.closing)
        trainable = run_inline if resources.runs_on == "inline" else run_on_train
        watchdog = Watchdog(searcher, self._desk)
        tuner.run(searcher, trainable, watchdog, self._place.ray, trial_resources(resources))


def _short_hash(path: Path) -> str:
    """Several studies may share a cluster; each has its own desk."""
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]
