"""What runs on a Train worker: the training loop, its progress reported."""

from typing import Any

import ray.train
import torch

from rse_study.collectives import Alone, Collectives
from rse_study.distributed import Group
from rse_study.errors import InputError, NonFiniteLoss, Unavailable
from rse_study.on_ray.payload import CellPayload
from rse_study.on_ray.reporting import Reporter, ReportMetrics
from rse_study.on_ray.workplace import workplace
from rse_study.results.result_file import FILE_NAME
from rse_study.results.schema import CHECKPOINT_FOLDER, MODEL_FOLDER
from rse_study.training.loop import DifferentCheckpoints, drive, train

BEGINS_WITH = (FILE_NAME, CHECKPOINT_FOLDER, MODEL_FOLDER)
"""What an attempt before may have left in the cell's folder; the model is rank 0's alone."""


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
    try:
        names = BEGINS_WITH if collectives.rank == 0 else BEGINS_WITH[:-1]
        with workplace(payload, names=names) as here:
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
            drive(points, Reporter(payload, collectives, report).report)
    except DifferentCheckpoints as error:
        # In a storage an attempt that was given up may have published one between two looks: the next try sees it.
        return {"reason": str(error), "for_good": not payload.storage}
    except (NonFiniteLoss, InputError) as error:
        return {"reason": str(error), "for_good": True}  # every worker raises it, and would again
    except Unavailable as error:
        return {"reason": str(error), "for_good": False}
    return {"reason": "", "for_good": False}
