"""Runs a study, from its first cell to its last score; trackers follow it."""

import os
import re
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from threading import Thread
from typing import Any

from ray.tune.logger import LoggerCallback, TBXLoggerCallback

from rse_study.activity import graceful_interrupt
from rse_study.data.hub_models import leave_client_to_its_process
from rse_study.errors import InputError, first_line
from rse_study.on_ray.queue import StudyCallback
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.stored.ledger_copy import CopyingCallback, stored_study
from rse_study.on_ray.study_run import AskConsent, ReadEvaluation, StudyRun
from rse_study.on_ray.tuner import SHOWN
from rse_study.registry import Registry
from rse_study.results.files.backup import recover
from rse_study.results.files.ledger import Ledger
from rse_study.storage import absolute
from rse_study.storage.storage import Storage
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.materials import PrepareMaterials


def run_study(
    checked: CheckedStudy,
    directory: Path,
    prepare: PrepareMaterials,
    read: ReadEvaluation,
    callback: StudyCallback,
    *,
    num_cpus: int = 0,
    address: str = "",
    track: str = "",
    consents: AskConsent = lambda pending: True,
    max_hours: float | None = None,
) -> Path:
    """Run the missing cells of the study, or go on with it, and return its folder.

    `prepare` and `read` run in this process, before any cell starts. A revision that wants consent is refused where
    `consents` says no. Raises InputError where the study cannot run here, OverBudget where a grid would take more than
    `max_hours`, Unavailable where its storage or Ray is gone for good, and KeyboardInterrupt after an interruption,
    when the running cells have ended.
    """
    leave_client_to_its_process()  # a thread scores baselines, which the hub may have, while Ray starts
    study_dir = directory.resolve()
    trackers = [Tracker(track, study_dir, callback.message)] if track else []
    with ExitStack() as stack:
        files, callback = _open_files(checked.study.storage, study_dir, callback, stack)
        files.keeps_items = checked.study.keep_items
        if recovered := recover(study_dir):
            callback.message(recovered)
        ledger = stack.enter_context(Ledger.open(study_dir))
        run = StudyRun(checked, files, ledger, MaterialsCache(prepare), read, callback)
        runtime = RayRuntime(stack, files, run.materials, callback, num_cpus, address, trackers)
        run.prepare(consents, max_hours)
        if isinstance(callback, CopyingCallback):
            callback.report_failure_to(runtime.give_up)
        stack.enter_context(graceful_interrupt(lambda: _close(runtime, callback)))
        run.all_stages(runtime)
        if runtime.failure is not None:
            raise runtime.failure
        if runtime.closing.is_set():
            raise KeyboardInterrupt
    return study_dir


def _open_files(
    location: str, study_dir: Path, callback: StudyCallback, stack: ExitStack
) -> tuple[StudyFiles, StudyCallback]:
    """Return the study's files, including what a driver elsewhere left."""
    if not location:
        return StudyFiles(study_dir), callback
    storage = Storage(absolute(location))
    storage.report_silence_to(callback.message)
    copying = stack.enter_context(stored_study(storage, study_dir, callback))
    files = StudyFiles(study_dir, storage)
    files.bring_results()
    return files, copying


def _close(runtime: RayRuntime, callback: StudyCallback) -> None:
    runtime.closing.set()
    said = "interrupted: running cells finish first, and no others start; interrupt again to stop now"
    # By a thread: a signal comes amid what this one writes, and a stream refuses a second writer of the same thread.
    Thread(target=callback.message, args=(said,)).start()


PACKAGES = Registry("tracker", {"mlflow": "mlflow-skinny", "wandb": "wandb", "tensorboard": "tensorboardX"})
# MLflow's own 7 retries take minutes if the server is down.
QUIET = dict(MLFLOW_DISABLE_TELEMETRY="1", MLFLOW_HTTP_REQUEST_MAX_RETRIES="2", WANDB_ERROR_REPORTING="0")
NEEDS = {
    "mlflow": "Set MLFLOW_TRACKING_URI to a store that answers: sqlite:///mlflow.db, http://HOST:5000",
    "wandb": "Run `wandb login`, or set WANDB_MODE=offline to keep the runs in the study's folder",
}


class Tracker(LoggerCallback):
    """One of Ray's loggers; if it fails in the run, the study goes on without it.

    Raises InputError where its package is not installed, or its store or service does not answer.
    """

    def __init__(self, name: str, study_dir: Path, say: Callable[[str], None]) -> None:
        package, self._where = PACKAGES.get(name, where="--track"), f"--track {name}"
        self._folder, self._say, self._cells = study_dir, say, dict[Any, TrackedCell]()
        try:
            self._logger = _logger_of(name, study_dir)
            self._logger.setup()
        except Exception as error:  # a store may raise any error of its database driver
            what, remedy = first_line(error).partition(". ")[0].rstrip("."), NEEDS.get(name, "")
            if isinstance(error, ImportError):
                what, remedy = f"{error.name} is not installed", f"pip install {package}"
            raise InputError(what, where=self._where, remedy=remedy) from None

    def log_trial_start(self, trial: Any) -> None:
        self._tell("log_trial_start", self._cells.setdefault(trial, TrackedCell(trial, self._folder)))

    def log_trial_result(self, iteration: int, trial: Any, result: dict[str, Any]) -> None:
        if "metrics" in result:  # it is a point, or the end
            values = result["metrics"] | result.get("scores", {}) | {name: result[name] for name in SHOWN}
            values["training_iteration"] = result["t"]  # by which trackers order what they show
            self._tell("log_trial_result", iteration, self._cells[trial], accepted(values))

    def log_trial_end(self, trial: Any, failed: bool = False) -> None:
        if cell := self._cells.pop(trial, None):  # its process has begun
            self._tell("log_trial_end", cell, failed or bool(trial.run_metadata.last_result.get("reason")))

    def on_experiment_end(self, trials: list[Any], **info: Any) -> None:
        self._tell("on_experiment_end", trials)

    def _tell(self, method: str, *given: Any) -> None:
        try:
            getattr(self._logger, method)(*given)
        except Exception as error:
            self._logger = LoggerCallback()  # does nothing
            self._say(f"{self._where}: {first_line(error)}. The study goes on without it")

    def __getstate__(self) -> dict[str, Any]:
        return {}  # Tune pickles its tuner


def _logger_of(name: str, study_dir: Path) -> LoggerCallback:
    os.environ.update(QUIET | os.environ)
    if name == "mlflow":
        from ray.air.integrations.mlflow import MLflowLoggerCallback

        store = os.environ.get("MLFLOW_TRACKING_URI", "sqlite:///mlflow.db")
        return MLflowLoggerCallback(store, experiment_name=study_dir.name)
    if name == "wandb":
        import wandb
        from ray.air.integrations.wandb import WandbLoggerCallback

        mode = os.environ.get("WANDB_MODE", "online")
        if mode == "online":
            wandb.login(verify=True)
        return WandbLoggerCallback(study_dir.name, group=study_dir.name, dir=str(study_dir), mode=mode)
    return TBXLoggerCallback()


class TrackedCell:
    """A trial of Tune as a tracker sees it: named after its cell, without the payload."""

    def __init__(self, trial: Any, study_dir: Path) -> None:
        self.config = accepted({name: value for name, value in trial.config.items() if name != "payload"})
        self.evaluated_params, self.trial_id, self.local_path = self.config, trial.trial_id, str(study_dir)

    def init_local_path(self) -> None:
        """Choose the folder in which TensorBoard finds this cell."""
        self.local_path += f"/tensorboard/{str(self).replace('/', '_')}-{self.trial_id}"

    def __str__(self) -> str:
        row = self.config.get("row") or f"trial {self.config['trial']}"
        return f"{row} seed {self.config['seed']}"


def accepted(values: dict[str, Any]) -> dict[str, Any]:
    """Return values under names that every tracker takes."""
    return {re.sub(r"[^/\w.\- ]", "_", name): value for name, value in values.items()}
