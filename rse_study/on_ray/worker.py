"""What runs on a Train worker: the training loop, its progress reported."""

from typing import Any

import ray.train
import torch

from rse_study.collectives import Alone, Collectives, Group
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.on_ray.payload import CellPayload
from rse_study.on_ray.reporting import Reporter, ReportMetrics
from rse_study.training.loop import drive, train


def run_worker(config: dict[str, Any]) -> dict[str, Any]:
    """Train one cell on this Train worker; rank 0's return value says how it ended."""
    alone = ray.train.get_context().get_world_size() == 1
    # Every worker yields at the same steps, as `ray.train.report` demands: it waits for all of them.
    return run_loop(CellPayload.from_config(config), Alone() if alone else Group(), ray.train.report)


def run_loop(payload: CellPayload, collectives: Collectives, report: ReportMetrics) -> dict[str, Any]:
    """Run the training loop of one cell in this process; say how it ended.

    Parameters
    ----------
    payload : CellPayload
        The cell.
    collectives : Collectives
        What joins the workers of the cell.
    report : callable
        Takes every point of the history.

    Returns
    -------
    dict
        `reason`: why there is no complete result, empty where there is one. `for_good`: it would end so again.
    """
    torch.set_num_threads(payload.threads)
    points = train(
        payload.trial,
        payload.seed,
        payload.load_materials(),
        payload.folder,
        collectives,
        device=payload.device,
        continues=payload.continues,
    )
    try:
        drive(points, Reporter(payload, collectives, report).report)
    except (NonFiniteLoss, InputError) as error:
        return {"reason": str(error), "for_good": True}  # every worker raises it, and would again
    return {"reason": "", "for_good": False}
