"""What runs on a Train worker: the training loop, its progress reported."""

from pathlib import Path
from typing import Any

import ray.train
import torch

from rse_study.collectives import Alone, Collectives, Group
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.on_ray.handover import read_materials
from rse_study.on_ray.reporting import Reporter, ReportMetrics
from rse_study.training.loop import drive, train
from rse_study.training.trial import Trial


def run_worker(config: dict[str, Any]) -> dict[str, Any]:
    """Train one cell on this Train worker; rank 0's return value says how it ended."""
    alone = ray.train.get_context().get_world_size() == 1
    # Every worker yields at the same steps, as `ray.train.report` demands: it waits for all of them.
    return run_loop(config, Alone() if alone else Group(), ray.train.report)


def run_loop(config: dict[str, Any], collectives: Collectives, report: ReportMetrics) -> dict[str, Any]:
    """The loop over a packed cell, in this process. `reason`: why there is no complete result, "" where there is."""
    torch.set_num_threads(config["threads"])
    trial = Trial.model_validate_json(config["trial"])
    device = "cuda" if config["gpus"] else "cpu"
    points = train(
        trial,
        config["seed"],
        read_materials(Path(config["materials"])),
        Path(config["directory"]),
        collectives,
        device=device,
        continues=config["continues"],
    )
    try:
        drive(points, Reporter(config, collectives, report).report)
    except (NonFiniteLoss, InputError) as error:
        return {"reason": str(error), "for_good": True}  # every worker raises it, and would again
    return {"reason": "", "for_good": False}
