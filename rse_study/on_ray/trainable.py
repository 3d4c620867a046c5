"""What runs in a Tune trial: the loop itself (`inline`) or a Train run (`train`)."""

import tempfile
from pathlib import Path
from typing import Any

import ray.tune
from ray.train.torch import TorchConfig
from ray.train.v2.api.config import FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.api.exceptions import TrainingFailedError, WorkerGroupError
from ray.train.v2.torch.torch_trainer import TorchTrainer
from ray.tune.integration.ray_train import TuneReportCallback

from rse_study.collectives import Alone
from rse_study.on_ray.payload import CellPayload
from rse_study.on_ray.worker import run_loop, run_worker

MAX_WORKER_FAILURES = 0  # a lost worker is a lost attempt, entered in the ledger and tried again from there
MAX_CONTROLLER_FAILURES = 3
OUT_OF_MEMORY = "could not create a primitive"  # oneDNN's words where it cannot allocate


def run_inline(config: dict[str, Any]) -> None:
    """Train the cell in `config` in this process and report its end."""
    payload = CellPayload.from_config(config)
    try:
        ended = run_loop(payload, Alone(), ray.tune.report)
    except BaseException as error:
        # Out of memory, a full disk, a defect of ours: say why, and let the trial fail, so that Tune does not give
        # the next cell to this process.
        _report_end(payload, {"reason": _describe(error)})
        raise
    _report_end(payload, ended)


def run_on_train(config: dict[str, Any]) -> None:
    """Train the cell in `config` on Train workers.

    The loop resumes from the cell's folder by itself.
    """
    payload = CellPayload.from_config(config)
    try:
        result: Any = _trainer(payload).fit()
        ended = result.return_value or {}
    except TrainingFailedError as error:
        ended = {"reason": reason_of(error)}
    _report_end(payload, ended)


def _trainer(payload: CellPayload) -> TorchTrainer:
    gpus = payload.gpus
    return TorchTrainer(
        run_worker,
        train_loop_config=payload.as_config(),
        torch_config=TorchConfig(backend="nccl" if gpus else "gloo"),
        scaling_config=ScalingConfig(
            num_workers=payload.workers,
            use_gpu=gpus > 0,
            resources_per_worker={"CPU": payload.threads, **({"GPU": gpus} if gpus else {})},
            label_selector=dict(payload.labels) or None,
        ),
        run_config=RunConfig(
            # The attempt is part of the name: the loop resumes from its own checkpoint, and a Train run that had
            # failed for good would only say so again.
            name=f"{payload.cell[:16]}-{payload.attempt}",
            # Nobody reads these notes on another node: each of them has its own where nothing is shared.
            storage_path=payload.train_runs or str(Path(tempfile.gettempdir()) / "rse_study_train"),
            callbacks=[TuneReportCallback()],
            failure_config=FailureConfig(
                max_failures=MAX_WORKER_FAILURES, controller_failure_limit=MAX_CONTROLLER_FAILURES
            ),
        ),
    )


def reason_of(error: TrainingFailedError) -> str:
    """One line: the first failed worker's own words, or the controller's."""
    if isinstance(error, WorkerGroupError) and error.worker_failures:
        rank, failure = min(error.worker_failures.items())
        cause = getattr(failure, "cause", None) or failure
        return f"worker {rank}: {_describe(cause)}"
    return _describe(error)


def _describe(error: BaseException) -> str:
    text = f"{type(error).__name__}: {_last_line(str(error))}"
    return f"{text} (out of memory, most likely)" if OUT_OF_MEMORY in text else text


def _report_end(payload: CellPayload, ended: dict[str, Any]) -> None:
    # Always, and last: a run that had finished before a crash reports nothing else when it is resumed.
    ray.tune.report({"for_good": False, **ended, "final": True, "cell": payload.cell})


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1][:500] if lines else ""
