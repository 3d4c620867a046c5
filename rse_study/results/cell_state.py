"""Whether a cell has ended, or the next run takes it up.

The one answer for the queue, plan, counts, status and reports.
"""

from pathlib import Path

from rse_study.results.records import Status
from rse_study.results.result_file import FILE_NAME
from rse_study.results.schema import cell_folder

HAS_RESULT: tuple[Status, ...] = ("complete", "stopped_early")
"""A cell with another status has no objective: what was last measured of it is in its metrics."""


def status_for_next_run(study_dir: Path, identity: str, status: Status) -> Status:
    """A cell's status as the next run of its study finds it.

    A cell that failed without a result counts as planned: its process was lost each time, or its input was missing,
    which says nothing about its configuration, and the next run tries it again. One that failed with a result (its
    loss was not finite) has ended like the others of `FINISHED`.

    Parameters
    ----------
    study_dir
        The study's folder: the result would lie in the folder of the cell.
    identity
        The cell's.
    status
        What the ledger has under it.
    """
    has_result = status != "failed" or (cell_folder(study_dir, identity) / FILE_NAME).exists()
    return status if has_result else "planned"
