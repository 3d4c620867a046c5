"""Ray for as long as a run lasts, started when the first cell needs it."""

import hashlib
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import ray

from rse_study.errors import Unavailable
from rse_study.on_ray import tuner
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.cell_queue import CellQueue
from rse_study.on_ray.coordinator import Coordinator
from rse_study.on_ray.launch import concurrency, ray_session, trial_resources
from rse_study.on_ray.materials_cache import MaterialsCache
from rse_study.on_ray.payload import Payloads
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.study_files import StudyFiles
from rse_study.on_ray.trainable import run_inline, run_on_train
from rse_study.on_ray.watchdog import Watchdog
from rse_study.study.definition.config import Resources


class RayRuntime:
    """Where cells run: Ray, the study's coordinator, and how many cells fit.

    Parameters
    ----------
    stack : ExitStack
        Ends Ray and the coordinator.
    files : StudyFiles
        Of the study, and how workers get at them.
    materials : MaterialsCache
        What cells are trained on.
    num_cpus : int
        CPUs of a Ray on this machine; 0 = all.
    address : str
        Of a running cluster; empty = Ray on this machine.
    """

    closing: Event
    """set as soon as no other cell is to start"""
    failure: Unavailable | None = None
    """what is gone for good"""

    def __init__(
        self,
        stack: ExitStack,
        files: StudyFiles,
        materials: MaterialsCache,
        num_cpus: int,
        address: str,
    ) -> None:
        self._stack, self._files, self._materials = stack, files, materials
        self._num_cpus, self._address = num_cpus, address
        self._coordinator: Coordinator | None = None
        self.closing = Event()

    def open(self, resources: Resources) -> int:
        """Start Ray if it is not running yet; how many cells fit at a time.

        Raises
        ------
        InputError
            Where not even one cell fits, or Ray does not start.
        """
        if self._coordinator is None:
            self._stack.enter_context(ray_session(self._num_cpus, self._address))
            self._coordinator = Coordinator(f"coordinator-{_short_hash(self._files.folders.study)}")
            self._stack.callback(self._coordinator.close)
        return concurrency(resources, ray.cluster_resources())

    def give_up(self, failure: Unavailable) -> None:
        """Start no other cell: something the run stands on is gone for good."""
        self.failure = self.failure or failure
        self.closing.set()

    @property
    def payloads(self) -> Payloads:
        """Makes payloads for the processes of this runtime."""
        return Payloads(self._files, self._materials, self._coordinator.name if self._coordinator else "")

    def run(self, queue: CellQueue, resources: Resources, callback: StudyCallback) -> None:
        """Run all cells of a queue.

        Parameters
        ----------
        queue : CellQueue
            Of one stage.
        resources : Resources
            What one cell uses.
        callback : StudyCallback
            Gets how cells start, go and end.

        Raises
        ------
        InputError
            Where not even one cell fits, or Ray does not start.
        """
        if queue.num_left == 0 or self.closing.is_set():
            return
        most = self.open(resources)
        assert self._coordinator is not None
        searcher = CellSearcher(queue, self.payloads, self._coordinator, callback, most, self)
        trainable = run_inline if resources.runs_on == "inline" else run_on_train
        watchdog = Watchdog(searcher, self._coordinator)
        tuner.run(searcher, trainable, watchdog, self._files.folders.ray, trial_resources(resources))


def _short_hash(path: Path) -> str:
    """Several studies may share a cluster; each has its own coordinator."""
    return hashlib.sha256(str(path).encode()).hexdigest()[:16]
