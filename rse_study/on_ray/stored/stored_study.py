"""A study whose files lie in a storage, for as long as its driver runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray.queue.callbacks import StudyCallback
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.on_ray.stored.lease import DriverLease
from rse_study.on_ray.stored.ledger_copy import CopyingCallback, bring_ledger
from rse_study.results.files.atomic import write_whole
from rse_study.results.files.lock import holder
from rse_study.results.files.schema import ledger_path, storage_file
from rse_study.storage.storage import Storage


def bring_study(storage: Storage, study_dir: Path) -> bool:
    """Bring a study that runs or ran elsewhere to a folder (absolute) of this machine.

    Returns whether its ledger was ahead of the local one.
    """
    if holder(study_dir) is not None:
        remedy = "Wait for its end: what it has is here"
        raise InputError("a driver of this machine runs it", where=str(study_dir), remedy=remedy)
    is_new = bring_ledger(storage, study_dir)
    if not ledger_path(study_dir).exists():
        remedy = "Submit it, or wait until its first cell has started"
        raise InputError(f"no study {study_dir.name!r}", where=storage.location, remedy=remedy)
    note_storage(study_dir, storage)
    files = StudyFiles(study_dir, storage)
    files.bring_results()
    files.bring_outcomes()
    return is_new


def note_storage(study_dir: Path, storage: Storage) -> None:
    """Note beside the ledger where a study's files lie."""
    write_whole(storage_file(study_dir), json.dumps({"location": storage.location}) + "\n")


@contextmanager
def stored_study(storage: Storage, study_dir: Path, callback: StudyCallback) -> Iterator[CopyingCallback]:
    """Hold the study's lease, take the newest ledger, and copy it as it grows."""
    storage.require(is_new=not storage_file(study_dir).is_file())
    lease = DriverLease(storage, study_dir.name)
    lease.take(callback.message)
    answers = True
    try:
        note_storage(study_dir, storage)
        if holder(study_dir) is None and bring_ledger(storage, study_dir):
            callback.message("goes on with the ledger that lies in the storage")
        copying = CopyingCallback(callback, storage, study_dir, lease)
        with copying.copying():
            yield copying
    except Unavailable:
        answers = False
        raise
    finally:
        if answers:
            with suppress(Unavailable):
                lease.release()
