"""Runs a study, from its first cell to its last score."""

from contextlib import ExitStack
from pathlib import Path

from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.materials_cache import MaterialsCache
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.study_folders import StudyFolders
from rse_study.on_ray.study_run import ReadEvaluation, StudyRun
from rse_study.results.ledger import Ledger
from rse_study.results.rebuild import rebuild
from rse_study.results.schema import ledger_path
from rse_study.study.checking.validation import CheckedStudy
from rse_study.training.interrupts import graceful_interrupt
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
) -> Path:
    """Run what is missing of the study and return its folder.

    Call it again after an interruption.

    Parameters
    ----------
    checked : CheckedStudy
        The study, found to be valid.
    directory : Path
        The study's folder, made where there is none.
    prepare : callable
        Makes (or finds) what a trial is trained on. Called in this process, before a cell starts.
    read : callable
        Gives an evaluation with its data, by name. Called in this process, before a cell starts.
    callback : StudyCallback
        Gets what happens.
    num_cpus : int
        CPUs of a Ray on this machine; 0 = all.
    address : str
        Of a running cluster; empty = Ray on this machine.

    Raises
    ------
    InputError
        Where the study cannot run here.
    KeyboardInterrupt
        After an interruption, when running cells have ended and Ray is gone.
    """
    folders = StudyFolders(directory.resolve())
    if not ledger_path(folders.study).exists() and (folders.study / "study.json").exists():
        rebuilt = rebuild(folders.study)
        callback.message(f"the ledger was gone: rebuilt, with {rebuilt.num_results} results found on disk")
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(folders.study))
        run = StudyRun(checked, folders, ledger, MaterialsCache(prepare), read, callback)
        run.prepare()
        runtime = RayRuntime(stack, folders, run.materials, callback, num_cpus, address)
        stack.enter_context(graceful_interrupt(lambda: _close(runtime, callback)))
        run.all_stages(runtime)
        if runtime.closing.is_set():
            raise KeyboardInterrupt
    return folders.study


def _close(runtime: RayRuntime, callback: StudyCallback) -> None:
    runtime.closing.set()
    callback.message("interrupted: running cells end first, no other starts; once more stops now")
