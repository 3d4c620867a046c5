"""What the workers of one cell must agree on before the first step."""

from pathlib import Path

import torch

from rse_study.collectives import Collectives
from rse_study.errors import InputError
from rse_study.training.trial import Trial


def require_equal_shares(trial: Trial, workers: int) -> None:
    """InputError unless every worker takes an equal share of a batch."""
    if trial.batch_size % workers != 0:
        raise InputError(
            f"batch_size = {trial.batch_size}",
            where="trial",
            rule=f"must be a multiple of the {workers} workers: each takes an equal share",
            remedy="Change batch_size or the number of workers",
        )


def require_one_view(collectives: Collectives, device: torch.device, directory: Path, t: int) -> None:
    """InputError on every worker unless all found the same step here (-1: a finished cell).

    Nobody passes before all have looked: rank 0 changes the folder only afterwards.
    """
    place = device if device.type == "cuda" else torch.device("cpu")
    mine = torch.tensor([float(t)], dtype=torch.float64, device=place)
    if collectives.any(float(collectives.sum(mine)) != float(t) * collectives.size):
        raise InputError(
            "the workers found different checkpoints",
            where=str(directory),
            rule="all workers read one folder, which rank 0 writes",
            remedy="Keep studies on storage that all machines share (--store)",
        )
