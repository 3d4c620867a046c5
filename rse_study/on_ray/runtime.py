"""Ray during a run: started for the first cell, restarted when it is lost."""

import hashlib
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from os import _exit
from pathlib import Path
from threading import Event

from ray.tune import Callback, with_parameters

from rse_study.cluster.node_capacity import Node
from rse_study.cluster.ray_jobs import token_hint
from rse_study.errors import GOES_ON, InputError, Unavailable
from rse_study.on_ray import tuner
from rse_study.on_ray.nodes.cluster_watch import STUCK_SECONDS, ClusterWatch, JoinedRay, OwnRay, RayLost
from rse_study.on_ray.nodes.elastic import HOLD_SECONDS, ElasticSize, Losses
from rse_study.on_ray.nodes.launch import ray_session
from rse_study.on_ray.nodes.private_ray import dashboard_url
from rse_study.on_ray.nodes.ray_folder import ray_output_in_file
from rse_study.on_ray.queue import StudyCallback
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.searcher import CellSearcher
from rse_study.on_ray.stored import MaterialsCache, Payloads, StudyFiles
from rse_study.on_ray.tuner import TuneRecord
from rse_study.on_ray.workers.coordinator import Coordinator
from rse_study.on_ray.workers.worker import run_inline, run_on_train
from rse_study.study.definition.parts import Resources

STARTING = "starting Ray"
MAX_RESTARTS = 3  # of Ray in one run: what takes it down again and again is no accident
REJOIN_SECONDS, REJOIN_PAUSE_SECONDS = 180.0, 5.0  # a head that is started again needs a minute or two
GAVE_UP = 3


class RayRuntime:
    """Ray, the study's coordinator, and how many cells fit."""

    closing: Event
    """set once no further cell may start"""
    failure: InputError | Unavailable | None = None
    """why the run cannot go on"""
    meanwhile: Callable[[], None]
    """called between two steps of Tune"""

    def __init__(
        self,
        stack: ExitStack,
        files: StudyFiles,
        materials: MaterialsCache,
        callback: StudyCallback,
        num_cpus: int,
        address: str,
        trackers: Sequence[Callback] = (),
    ) -> None:
        self._stack, self._files, self._materials, self._callback = stack, files, materials, callback
        self._num_cpus, self._address, self._trackers = num_cpus, address, trackers
        self._session = ExitStack()
        self._coordinator: Coordinator | None = None
        self._watch: ClusterWatch | None = None
        self._log: Path | None = None
        self._num_losses, self._has_said_where = 0, False
        self.closing = Event()
        self.meanwhile = lambda: None

    def open(self, resources: Resources) -> ElasticSize:
        """Start Ray unless it runs, and wait for a node with room for a cell."""
        if self._watch is None:
            self._begin()
        assert self._watch is not None
        size = ElasticSize(self._watch, resources, self._callback, is_own=not self._address)
        size.await_room(self.closing)
        return size

    def give_up(self, failure: InputError | Unavailable) -> None:
        self.failure = self.failure or failure
        self.closing.set()

    @property
    def payloads(self) -> Payloads:
        return Payloads(self._files, self._materials, self._coordinator.name if self._coordinator else "")

    @property
    def nodes(self) -> Sequence[Node]:
        """The live nodes of a Ray that was opened."""
        assert self._watch is not None
        return self._watch.nodes

    def check(self) -> None:
        """Raise RayLost where Ray is gone, Unavailable where the run cannot go on."""
        if self.failure is not None:
            raise self.failure
        if self._watch is not None:
            self._watch.check()

    def run(self, queue: CellQueue, resources: Resources, callback: StudyCallback) -> None:
        self.persist(lambda: self._run_once(queue, resources, callback))

    def persist(self, work: Callable[[], None]) -> None:
        """Do some work with Ray, from the start again whenever Ray is lost."""
        while not self.closing.is_set():
            try:
                work()
            except RayLost as loss:
                self._take_leave(loss)
            else:
                break

    def _run_once(self, queue: CellQueue, resources: Resources, callback: StudyCallback) -> None:
        if queue.num_left == 0:
            return
        size = self.open(resources)
        assert self._coordinator is not None
        hold_seconds = HOLD_SECONDS if self._address else 0.0
        losses = Losses(callback, self._coordinator.nodes_of, self._say_where_once, hold_seconds)
        searcher = CellSearcher(
            queue, self.payloads, self._coordinator, callback, size.concurrency, losses, self
        )
        between = tuner.ClusterCallback(self._between_steps, size, losses, searcher, self._coordinator)
        searcher.while_idle = between.follow
        trainable = run_inline if resources.runs_on == "inline" else run_on_train
        carried = [self._files.carried(one) for one in queue.evaluations]
        try:
            asking = with_parameters(trainable, evaluations=carried) if carried else trainable
            callbacks = [between, TuneRecord(queue.objective), *self._trackers]
            tuner.run(searcher, asking, callbacks, self._files.ray_folder, resources)
            size.close()
        except RayLost as loss:
            loss.num_cells = searcher.abandon(f"Ray was lost: {loss}")
            raise

    def _between_steps(self) -> None:
        self.check()
        self.meanwhile()

    def _begin(self) -> None:
        """Start Ray in the main thread, with which its processes end."""
        if self._log is None:
            self._log = self._stack.enter_context(ray_output_in_file(self._files.study_dir / "log"))
            self._stack.callback(lambda: self._session.close())
        self._session.enter_context(self._ray())
        if (url := dashboard_url()) and not self._num_losses:
            self._callback.message(f"Ray's dashboard: http://{url}, {token_hint()}")
        probe = JoinedRay() if self._address else OwnRay()
        stuck_seconds = STUCK_SECONDS["joined" if self._address else "own"]
        self._watch = ClusterWatch(probe, self._exit_stuck, stuck_seconds)
        self._session.callback(self._watch.close)
        # Several studies may share a cluster; each has its own coordinator.
        study = hashlib.sha256(str(self._files.study_dir).encode()).hexdigest()[:16]
        self._coordinator = Coordinator(f"coordinator-{study}")
        self._session.callback(self._coordinator.close)

    def _ray(self) -> ExitStack:
        """Start or join Ray, which may take a while to come back once lost."""
        until = time.monotonic() + (REJOIN_SECONDS if self._num_losses and self._address else 0.0)
        while True:
            with ExitStack() as stack:
                try:
                    self._callback.advanced(STARTING, 0, 1)
                    stack.enter_context(ray_session(self._num_cpus, self._address, self._exit_stuck))
                    self._callback.advanced(STARTING, 1, 1)
                    return stack.pop_all()
                except (InputError, Unavailable) as error:
                    if not self._num_losses:
                        raise
                    if time.monotonic() > until or self.closing.is_set():
                        raise self._gave_up(str(error)) from None
            self.closing.wait(REJOIN_PAUSE_SECONDS)

    def _take_leave(self, loss: RayLost) -> None:
        """Report that Ray was lost, and end the rest of it."""
        self._num_losses += 1
        if self._num_losses <= MAX_RESTARTS:
            number = "1 cell is" if loss.num_cells == 1 else f"{loss.num_cells} cells are"
            cells = f"; {number} tried again" if loss.num_cells else ""
            back = "joined" if self._address else "started"
            again = f"it is {back} again ({self._num_losses} of {MAX_RESTARTS} times)"
            self._callback.message(f"Ray was lost: {loss}{cells}; {again}. {self._says_more()}")
        _mark(f"Ray was lost: {loss}")
        self._session.close()
        if self._watch is not None:  # it may have been lost before anybody looked
            self._watch.clear()
        self._watch = self._coordinator = None
        if self._num_losses > MAX_RESTARTS:
            raise self._gave_up(str(loss))

    def _gave_up(self, reason: str) -> Unavailable:
        times = f"{self._num_losses} time{'s' * (self._num_losses > 1)} in this run"
        remedy = f"{self._says_more()}; {GOES_ON}"
        return Unavailable(f"Ray was lost {times}, now: {reason}", remedy)

    def _say_where_once(self) -> None:
        """Say after the first loss where Ray's own log is."""
        if not self._has_said_where:
            self._has_said_where = True
            _mark("a cell or a node was lost")
            self._callback.message(f"Ray's log of losses is in {self._log}")

    def _says_more(self) -> str:
        return f"Ray's log is in {self._log}"

    def _exit_stuck(self, reason: str) -> None:
        """End the process, which waits for an answer that never comes; what is committed stays."""
        print(f"\ngave up: Ray was lost: {reason}. {self._says_more()}; {GOES_ON}", flush=True)
        _exit(GAVE_UP)


def _mark(text: str) -> None:
    """Note when something happened among Ray's own words."""
    print(f"{datetime.now(UTC):%H:%M:%S} {text}", file=sys.stderr)
