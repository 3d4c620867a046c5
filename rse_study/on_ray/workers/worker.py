"""A trial of Tune, and workers of Ray Train that are kept from cell to cell."""

import ctypes
import secrets
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import ray
import ray.train
import ray.tune
import torch
from ray.train.torch import TorchConfig
from ray.train.v2.api.config import FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.api.exceptions import TrainingFailedError, WorkerGroupError
from ray.train.v2.torch.torch_trainer import TorchTrainer

from rse_study.cluster.node_capacity import share_of
from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss, Unavailable
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.workers import IS_TAKEN, CellPayload, Config, PointsByKey
from rse_study.on_ray.workers.coordinator import Reporter, ReportMetrics, exchange_call
from rse_study.on_ray.workers.evaluations import score_cell
from rse_study.on_ray.workers.workplace import work_folder, workplace
from rse_study.results.files.result_file import EVALUATIONS_FILE, FILE_NAME, ITEMS_FILE, read_result
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER, failure_of_disk
from rse_study.results.records import COSTS
from rse_study.tensors import Alone, Collectives
from rse_study.training.loop import FULL, DifferentCheckpoints, drive, train

OUT_OF_MEMORY = "could not create a primitive"  # oneDNN's words where it cannot allocate
LONGEST = 500


def reason_of(error: TrainingFailedError) -> str:
    """Return one line: the first failed worker's own words, or the controller's."""
    if isinstance(error, WorkerGroupError) and error.worker_failures:
        rank, failure = min(error.worker_failures.items())
        cause = getattr(failure, "cause", None) or failure
        return f"worker {rank}: {describe(cause)}"
    return describe(error)


def describe(error: BaseException) -> str:
    """Return kind and last line of an error, with a hint if memory ran out."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = f"{type(error).__name__}: {lines[-1][:LONGEST] if lines else ''}"
    return f"{text} (out of memory, most likely)" if OUT_OF_MEMORY in text else text


MAX_WORKER_FAILURES = 0  # a lost worker is a lost attempt, entered in the ledger and tried again from there
MAX_CONTROLLER_FAILURES = 3
LOOK_SECONDS = 1.0  # how often a trial looks whether its workers are still there
ENDING_SECONDS = 30.0  # that workers have to end where no more cells come
UNKNOWN = "the workers ended without saying why"


class GroupEnded(Exception):
    """The workers left without a report; no reason where the cell is not to blame."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class TrainWorkers:
    """The workers of one trial process, all for cells with the same resources."""

    def __init__(
        self, work: Callable[[Config], None], payload: CellPayload, evaluations: Sequence[Evaluation]
    ) -> None:
        self.name = f"{payload.cell[:16]}-{payload.attempt}-{secrets.token_hex(4)}"
        self._coordinator, self._used = payload.coordinator, _used(payload)
        self._number, self._reason, self._is_usable = 0, UNKNOWN, True
        config = {"group": self.name, "coordinator": payload.coordinator, "evaluations": list(evaluations)}
        self._trainer = _trainer(work, config, payload, self.name)
        self._thread = threading.Thread(target=self._fit, name=self.name, daemon=True)
        self._thread.start()

    def can_run(self, payload: CellPayload) -> bool:
        """Whether a cell may be given to these workers."""
        return self._is_usable and self._thread.is_alive() and self._used == _used(payload)

    def run(self, payload: CellPayload, report: ReportMetrics) -> Config:
        """Run a cell and return how it ended; raise GroupEnded where the workers are gone."""
        self._number += 1
        fetched, answer = list[str](), None
        while True:
            if answer is None:
                asked = (self.name, self._number, payload.as_config(), fetched)
                answer = exchange_call(self._coordinator, "reports", *asked)
            if not ray.wait([answer], timeout=LOOK_SECONDS)[0]:
                if not self._thread.is_alive():
                    self._leave()  # once more: they had left before this cell came, or the exchange was made again
                continue
            points, ended = ray.get(answer)
            for point in points.values():
                report(point)
            if ended is not None:
                if IS_TAKEN in ended:
                    # A group's first cell is to blame in any case: workers that cannot start would be tried for ever.
                    raise GroupEnded(self._reason if self._number == 1 or ended[IS_TAKEN] else "")
                self._is_usable = not (ended["reason"] and payload.resources.workers > 1)
                return ended
            fetched, answer = list(points), None

    def wait_if_over(self) -> None:
        """Wait for workers to end if no cells come: Tune would leak their reservations."""
        if not ray.get(exchange_call(self._coordinator, "has_cells")):
            self._thread.join(ENDING_SECONDS)

    def _fit(self) -> None:
        try:
            self._trainer.fit()
            self._reason = ""
        except TrainingFailedError as error:
            self._reason = reason_of(error)
        except Exception as error:  # whatever it is, it is the cell's end: nobody else hears of this thread
            self._reason = describe(error)
        finally:
            self._leave()

    def _leave(self) -> None:
        exchange_call(self._coordinator, "leave_group", self.name)


class GroupMember:
    """A worker's side: takes cells, and reports on them if it is rank 0."""

    def __init__(self, config: Config, rank: int) -> None:
        self._group, self._coordinator, self._rank = config["group"], config["coordinator"], rank
        self.evaluations: Sequence[Evaluation] = config["evaluations"]
        self._number, self._num_points, self._birth = 0, 0, secrets.token_hex(4)
        self._ended: Config | None = None

    def next_cell(self) -> CellPayload | None:
        """Return the next cell; None where no more come."""
        given = ray.get(exchange_call(self._coordinator, "next_cell", self._group, self._number, self._ended))
        if given is None:
            return None
        (self._number, config), self._ended = given, None
        self._tell()
        return CellPayload.from_config(config)

    def report(self, point: Config) -> None:
        if self._rank == 0:
            self._num_points += 1
            self._tell({f"{self._birth}-{self._num_points}": point})

    def end(self, ended: Config) -> None:
        if self._rank == 0:
            self._ended = ended
            self._tell(None, ended)

    def _tell(self, points: PointsByKey | None = None, ended: Config | None = None) -> None:
        ray.get(exchange_call(self._coordinator, "tell", self._group, self._number, points, ended))


def _used(payload: CellPayload) -> tuple[Any, ...]:
    """Return what cells must have in common to run on the same workers."""
    used = payload.resources
    return payload.coordinator, used.workers, share_of(used), used.labels


def _trainer(work: Callable[[Config], None], config: Config, payload: CellPayload, name: str) -> TorchTrainer:
    used = payload.resources
    return TorchTrainer(
        work,
        train_loop_config=config,
        torch_config=TorchConfig(backend="nccl" if used.gpus else "gloo"),
        scaling_config=ScalingConfig(
            num_workers=used.workers,
            use_gpu=used.gpus > 0,
            resources_per_worker=share_of(used),
            label_selector=used.labels or None,
        ),
        run_config=RunConfig(
            # A name of its own: what has failed would only say so again.
            name=name,
            # Nobody reads these notes on another node: each of them has its own where nothing is shared.
            storage_path=payload.train_runs or str(Path(tempfile.gettempdir()) / "rse_study_train"),
            failure_config=FailureConfig(
                max_failures=MAX_WORKER_FAILURES, controller_failure_limit=MAX_CONTROLLER_FAILURES
            ),
        ),
    )


def give_back_free_memory() -> None:
    """Return free memory to the machine.

    glibc keeps what each thread has freed, and every cell has threads of its own: without this a process
    grows with each cell it runs (docs/results/performance.md). Other C libraries are left alone.
    """
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
        if trim:
            trim(0)


BEGINS_WITH = (FILE_NAME, CHECKPOINT_FOLDER)
"""what an earlier attempt may have left in the cell's folder"""
OF_RANK_0 = (MODEL_FOLDER, EVALUATIONS_FILE, ITEMS_FILE)
"""further files of that kind, for the worker that writes them"""


def run_worker(config: dict[str, Any]) -> None:
    """Train cells on this Train worker, one after the other, until there are no more."""
    context = ray.train.get_context()
    alone = context.get_world_size() == 1
    member, collectives = GroupMember(config, context.get_world_rank()), Alone() if alone else Group()
    while (payload := member.next_cell()) is not None:
        ended = run_loop(payload, collectives, member.report, member.evaluations)
        give_back_free_memory()
        member.end(ended)
        if ended["reason"] and not alone:
            # The others may have had another end, or still wait for this worker: nobody goes on with them.
            raise RuntimeError(f"the workers of a cell that failed make room for others: {ended['reason']}")


def run_loop(
    payload: CellPayload,
    collectives: Collectives,
    report: ReportMetrics,
    evaluations: Sequence[Evaluation] = (),
) -> dict[str, Any]:
    """Train and score one cell in this process; return how it ended.

    `reason` says why there is no complete result, and is empty otherwise; `for_good`, whether another try
    would end the same; `is_blameless`, whether a disk or the storage is to blame; rank 0 adds `metrics`, the last ones
    with the costs, and `scores`, for Tune's own record. Rank 0 scores the model on
    `evaluations` at once; a failed one is repeated by a task of the driver, which says why.
    """
    torch.set_num_threads(payload.resources.threads)
    try:
        reporter = Reporter(payload, collectives, report)  # first: a worker that hangs here can be ended, too
        return _trained_and_scored(payload, collectives, reporter, evaluations)
    except DifferentCheckpoints as error:
        # In a storage an attempt that was given up may have published one between two looks: the next try sees it.
        return {"reason": str(error), "for_good": not payload.storage}
    except (NonFiniteLoss, InputError) as error:
        return {"reason": str(error), "for_good": True}  # every worker raises it, and would again
    except Exception as error:
        failure = error if isinstance(error, Unavailable) else failure_of_disk(error, work_folder(payload))
        if failure is None:
            raise
        return {"reason": str(failure), "for_good": False, "is_blameless": True}


def _trained_and_scored(
    payload: CellPayload, collectives: Collectives, reporter: Reporter, evaluations: Sequence[Evaluation]
) -> dict[str, Any]:
    ended: dict[str, Any] = {"reason": "", "for_good": False}
    writes = collectives.rank == 0  # the model, and its scores
    names = (*BEGINS_WITH, *OF_RANK_0) if writes else BEGINS_WITH
    with workplace(payload, names=names, evaluations=evaluations if writes else ()) as here:
        how: dict[str, Any] = {
            "device": payload.device,
            "continues": payload.continues,
            "publish": here.publish,
        }
        points = train(payload.trial, payload.seed, here.materials, here.folder, collectives, **how)
        drive(points, reporter.report)
        if not writes:
            return ended
        if not payload.keeps_items:
            (here.folder / ITEMS_FILE).unlink(missing_ok=True)
            here.publish(ITEMS_FILE)
        result = read_result(here.folder)
        ended["metrics"] = {name: result.final_value(name) for name in (*result.final, *COSTS)}
        if here.evaluations:
            rows = score_cell(payload, here, reporter.scored)
            ended["scores"] = {row.metric: row.value for row in rows}
    return ended


_groups: list[TrainWorkers] = []
"""the workers of this process: at most one group"""


def run_inline(config: dict[str, Any], evaluations: Sequence[Evaluation] = ()) -> None:
    """Train and score the cell in `config` in this process, and report its end."""
    payload = CellPayload.from_config(config)
    try:
        ended = run_loop(payload, Alone(), ray.tune.report, evaluations)
    except BaseException as error:
        # Out of memory, a full disk, a defect of ours: say why, and let the trial fail, so that Tune does not give
        # the next cell to this process.
        _report_end(payload, {"reason": describe(error)})
        raise
    give_back_free_memory()
    _report_end(payload, ended)


def run_on_train(config: dict[str, Any], evaluations: Sequence[Evaluation] = ()) -> None:
    """Have Train workers train and score the cell, resumed from its folder."""
    payload = CellPayload.from_config(config)
    ended: dict[str, Any] | None = None
    while ended is None:
        if not _groups or not _groups[-1].can_run(payload):
            _groups[:] = [TrainWorkers(run_worker, payload, evaluations)]
        try:
            ended = _groups[-1].run(payload, ray.tune.report)
        except GroupEnded as end:
            ended = end_of_group(end.reason)
    _groups[-1].wait_if_over()
    _report_end(payload, ended)


def end_of_group(reason: str) -> dict[str, Any] | None:
    """Return the end of a cell whose workers left; None if the cell is not to blame."""
    # Without a reason they were gone before one of them took it. A full GPU would be full again.
    return {"reason": reason, "for_good": FULL in reason} if reason else None


def _report_end(payload: CellPayload, ended: dict[str, Any]) -> None:
    # Always, and last: a run that had finished before a crash reports nothing else when it is resumed.
    ray.tune.report({"for_good": False, **ended, "final": True, "cell": payload.cell})
