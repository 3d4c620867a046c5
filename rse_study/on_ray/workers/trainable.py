"""The function of a Tune trial: the loop itself, or a wait for Train's workers."""

from collections.abc import Sequence
from typing import Any

import ray.tune

from rse_study.collectives import Alone
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.workers.failure_reason import describe
from rse_study.on_ray.workers.free_memory import give_back_free_memory
from rse_study.on_ray.workers.payload import CellPayload
from rse_study.on_ray.workers.train_workers import GroupEnded, TrainWorkers
from rse_study.on_ray.workers.worker import run_loop, run_worker
from rse_study.training.gpu_memory import FULL

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
