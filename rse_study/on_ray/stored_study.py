"""A study whose files lie in a storage, for as long as its driver runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from rse_study.errors import Unavailable
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.driver_lease import DriverLease
from rse_study.on_ray.ledger_copy import CopyingCallback, bring_ledger
from rse_study.results.atomic import write_whole
from rse_study.results.lock import holder
from rse_study.results.schema import storage_file
from rse_study.storage.storage import Storage


@contextmanager
def stored_study(storage: Storage, study_dir: Path, callback: StudyCallback) -> Iterator[CopyingCallback]:
    """Hold the study's lease, take the newest ledger, copy it while it grows.

    Parameters
    ----------
    storage : Storage
        Where the study's files lie.
    study_dir : Path
        The study's folder on this machine, of which no process is the writer yet.
    callback : StudyCallback
        Gets what happens.

    Raises
    ------
    InputError
        Where the storage cannot be used from here, or another driver runs the study.
    Unavailable
        Where the storage is gone for good.
    """
    storage.require()
    lease = DriverLease(storage, study_dir.name)
    lease.take(callback.message)
    answers = True
    try:
        write_whole(storage_file(study_dir), json.dumps({"location": storage.location}) + "\n")
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
