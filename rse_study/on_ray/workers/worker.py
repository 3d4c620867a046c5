"""A trial of Tune and a worker of Train: one cell after the other, with reports."""

import ctypes
import sys
from collections.abc import Sequence
from typing import Any

import ray.train
import ray.tune
import torch

from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss, Unavailable
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.workers import CellPayload
from rse_study.on_ray.workers.coordinator import SCORED, Reporter, ReportMetrics
from rse_study.on_ray.workers.evaluations import score_cell
from rse_study.on_ray.workers.train_workers import GroupEnded, GroupMember, TrainWorkers, describe
from rse_study.on_ray.workers.workplace import work_folder, workplace
from rse_study.results.files.result_file import EVALUATIONS_FILE, FILE_NAME, ITEMS_FILE, read_result
from rse_study.results.files.schema import CHECKPOINT_FOLDER, MODEL_FOLDER, failure_of_disk
from rse_study.results.records import COSTS
from rse_study.tensors import Alone, Collectives
from rse_study.training.loop import FULL, DifferentCheckpoints, drive, train


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
    torch.set_num_threads(payload.threads)
    writes = collectives.rank == 0  # the model, and its scores
    names = (*BEGINS_WITH, *OF_RANK_0) if writes else BEGINS_WITH
    try:
        reporter = Reporter(payload, collectives, report)  # first: a worker that hangs here can be ended, too
        with workplace(payload, names=names, evaluations=evaluations if writes else ()) as here:
            points = train(
                payload.trial,
                payload.seed,
                here.materials,
                here.folder,
                collectives,
                device=payload.device,
                continues=payload.continues,
                publish=here.publish,
            )
            drive(points, reporter.report)
            if writes and not payload.keeps_items:
                (here.folder / ITEMS_FILE).unlink(missing_ok=True)
                here.publish(ITEMS_FILE)
            ended: dict[str, Any] = {"reason": "", "for_good": False}
            if writes:
                result = read_result(here.folder)
                ended["metrics"] = {name: result.final_value(name) for name in (*result.final, *COSTS)}
            if here.evaluations:
                rows = score_cell(payload, here, on_progress=lambda done, total: report({SCORED: done}))
                ended["scores"] = {row.metric: row.value for row in rows}
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
