"""Whether a cell has ended, or the next run takes it up.

The one answer for the queue, plan, counts, status and reports.
"""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rse_study.results.queries import LedgerQueries
from rse_study.results.records import AttemptOutcome, CellRecord, Status
from rse_study.results.result_file import FILE_NAME
from rse_study.results.schema import cell_folder

COUNTED: tuple[Status, ...] = ("complete", "stopped_early", "failed", "running")
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


def cells_for_next_run(ledger: LedgerQueries, study_dir: Path) -> list[CellRecord]:
    """Return the cells of a study's newest revision, each with the status that the next run finds."""
    return [
        one.model_copy(update={"status": status_for_next_run(study_dir, one.identity, one.status)})
        for one in ledger.cells()
        if not one.retired
    ]


def count_cells(statuses: Iterable[Status], num_planned: int) -> dict[str, int]:
    """Count cells: planned in all, complete, stopped_early, failed, running, missing.

    Missing are all that are none of these. A cell that was lost, which the next run takes up, is missing and not
    failed.

    Parameters
    ----------
    statuses
        Of the cells that are part of the study, as the next run finds them.
    num_planned
        Cells of the study.
    """
    known = Counter(statuses)
    begun: dict[str, int] = {status: known[status] for status in COUNTED}
    return {"planned": num_planned, **begun, "missing": max(0, num_planned - sum(begun.values()))}


def is_lost(outcome: AttemptOutcome, status: Status) -> bool:
    """Return whether an attempt ended without a result.

    The last one at a cell that was given up is "failed" in the ledger; `status`, its cell's for the next run, is then
    `planned`.
    """
    return outcome == "lost" or (outcome == "failed" and status == "planned")
