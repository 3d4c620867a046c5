"""Runs a study, from its first cell to its last score."""

from contextlib import ExitStack
from pathlib import Path
from threading import Thread

from rse_study.activity import graceful_interrupt
from rse_study.data.hub_models import leave_client_to_its_process
from rse_study.on_ray.queue.cell import StudyCallback
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored.files import MaterialsCache, StudyFiles
from rse_study.on_ray.stored.ledger_copy import CopyingCallback, stored_study
from rse_study.on_ray.study_run import AskConsent, ReadEvaluation, StudyRun
from rse_study.on_ray.trackers import Tracker
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.rebuild import recover
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
