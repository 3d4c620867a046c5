"""Status of a cell for the next run: the one answer for queue, plan and reports."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.result_file import FILE_NAME
from rse_study.results.files.schema import cell_folder
from rse_study.results.records import AttemptOutcome, CellRecord, Status

COUNTED: tuple[Status, ...] = ("complete", "stopped_early", "failed", "running")
HAS_RESULT: tuple[Status, ...] = ("complete", "stopped_early")
"""Only these cells have an objective; the last measurements of others are in their metrics."""


def status_for_next_run(study_dir: Path, identity: str, status: Status) -> Status:
    """Return a cell's status as the next run of its study finds it.

    A cell that failed without a result is planned: a lost process or input says nothing about its configuration.
    """
    has_result = status != "failed" or (cell_folder(study_dir, identity) / FILE_NAME).exists()
    return status if has_result else "planned"


def cells_for_next_run(ledger: LedgerQueries, study_dir: Path) -> list[CellRecord]:
    """Return the current cells of a study, with their status for the next run."""
    return as_next_run_finds([one for one in ledger.cells() if not one.retired], study_dir)


def as_next_run_finds(cells: Iterable[CellRecord], study_dir: Path) -> list[CellRecord]:
    """Return cells with their status for the next run."""
    found = ((one, status_for_next_run(study_dir, one.identity, one.status)) for one in cells)
    return [
        one if one.status == status else one.model_copy(update={"status": status}) for one, status in found
    ]


def count_cells(statuses: Iterable[Status], num_planned: int) -> dict[str, int]:
    """Count cells by status; `missing` ones were never begun, or lost and run next."""
    known = Counter(statuses)
    begun: dict[str, int] = {status: known[status] for status in COUNTED}
    return {"planned": num_planned, **begun, "missing": max(0, num_planned - sum(begun.values()))}


def is_lost(outcome: AttemptOutcome, status: Status) -> bool:
    """Whether an attempt ended without a result; the last one before giving up too."""
    return outcome == "lost" or (outcome == "failed" and status == "planned")
