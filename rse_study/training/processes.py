"""One cell on this machine without Ray, in one process or in several."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import torch

from rse_study.distributed import Group
from rse_study.results.records import Verdict
from rse_study.training.loop import Progress, Report, drive, train
from rse_study.training.materials import Materials
from rse_study.training.process_group import Ask, run_group
from rse_study.training.session_setup import require_equal_shares
from rse_study.training.trial import Trial


def train_locally(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    *,
    workers: int = 1,
    threads: int = 1,
    report: Report = lambda progress: None,
    device: str = "cpu",
    **options: Any,
) -> None:
    """Train one cell on this machine, with `workers` processes that share every batch.

    A single worker is this process itself. On "cuda" several take one GPU each where there are enough, else they
    share them; they talk through the host's memory. `report` is called in this process with rank 0's points; "stop"
    ends the cell early. `options` are those of `train`: checkpoint_seconds, continues. Raises what `train` raises, and
    WorkerLost if a worker's process was killed.
    """
    require_equal_shares(trial, workers)
    if workers == 1:
        with _threads(threads):
            drive(train(trial, seed, materials, directory, device=device, **options), report)
        return
    share = partial(_train_share, trial, seed, materials, directory, device, options)
    run_group(share, workers, threads=threads, answer=report)


def _train_share(
    trial: Trial,
    seed: int,
    materials: Materials,
    directory: Path,
    device: str,
    options: dict[str, Any],
    group: Group,
    ask: Ask,
) -> None:
    if device == "cuda":
        torch.cuda.set_device(group.rank % torch.cuda.device_count())
    points = train(trial, seed, materials, directory, group, device=device, **options)
    drive(points, partial(_agreed, group, ask))


def _agreed(group: Group, ask: Ask, progress: Progress) -> Verdict | None:
    """Ask on rank 0, and give its answer to every worker."""
    stops = group.rank == 0 and ask(progress) == "stop"
    return "stop" if group.any(stops) else None


@contextmanager
def _threads(number: int) -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)
