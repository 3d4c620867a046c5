"""What runs on a Train worker: the training loop, its progress reported."""

from pathlib import Path
from typing import Any

import ray.train
import torch

from rse_study.collectives import Alone, Collectives, Group
from rse_study.errors import InputError, NonFiniteLoss
from rse_study.on_ray.handover import read_materials
from rse_study.training.loop import train
from rse_study.training.trial import Trial


def run_worker(config: dict[str, Any]) -> dict[str, Any]:
    """Train one cell on this worker; rank 0's return value says how it ended."""
    torch.set_num_threads(config["threads"])
    alone = ray.train.get_context().get_world_size() == 1
    collectives: Collectives = Alone() if alone else Group()
    trial = Trial.model_validate_json(config["trial"])
    materials = read_materials(Path(config["materials"]))
    device = "cuda" if config["gpus"] else "cpu"
    try:
        # Every worker yields at the same steps, as `ray.train.report` demands: it waits for all of them.
        for progress in train(
            trial, config["seed"], materials, Path(config["directory"]), collectives, device=device
        ):
            ray.train.report(
                {"t": progress.t, "num_steps": progress.num_steps, "metrics": dict(progress.metrics)}
            )
    except (NonFiniteLoss, InputError) as error:
        return {"reason": str(error)}  # every worker raises it, and would again: no retry
    return {"reason": ""}
