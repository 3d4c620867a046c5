"""A revision that a file would make of its study, and the consent it wants."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.archive import ORIGIN
from rse_study.results.files.connect import has_ledger
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import Reader
from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_records
from rse_study.results.study_record import StudyRecord
from rse_study.spec import hash_file
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.revisions import change_to
from rse_study.training.trial import Trial

MOST_NAMED = 12
# A job's own copy of a file: under Slurm, in the folder of a submission, or where Ray unpacks that.
OF_A_JOB = re.compile(r".*/(rse-(\d+-){2}\d+|rse-.+-[0-9a-f]{12}(-\d+)?(/code)?|_ray_pkg_\w+)/study\.yaml")


@dataclass(frozen=True)
class PendingRevision:
    """How a file differs from the frozen study, and why that wants consent."""

    change: str
    leaving: str
    """complete cells that are no part of the study any more, by row; empty if there are none"""
    reasons: tuple[str, ...]
    refusal: InputError

    def __str__(self) -> str:
        return f"{self.change}{f'. {self.leaving}' if self.leaving else ''}"


def pending_revision(ledger: LedgerQueries, checked: CheckedStudy) -> PendingRevision | None:
    """Return the revision that a file would make; None if nothing has changed.

    A file that only adds to the study it was frozen from, or raises its budget, needs no consent. InputErrors name
    changes that are no revision.
    """
    frozen = ledger.study()
    change = change_to(frozen, checked.study) if frozen and "base" in frozen.resolved else ""
    if not frozen or not change:
        return None
    left = _leaving(ledger, checked)
    leaving = f"complete cells that leave it ({len(left)}): {named_cells(frozen, left)}" if left else ""
    grows = all(part.startswith("base.budget.amount") or " added: " in part for part in change.split("; "))
    is_other = is_another_file(frozen, checked.where)
    of_file = f"it was last run from another file, {frozen.file}" if is_other else ""
    asked = f"its question was {frozen.question!r}" if frozen.question != checked.study.question else ""
    lost = leaving if is_other or not grows else ""
    reasons = tuple(reason for reason in (of_file, asked, lost) if reason)
    remedy = "Give this file a `name` of its own, or consent: `run --revise`"
    what, rule = f"revises the study {frozen.name} ({change})", "; ".join(reasons)
    refusal = InputError(what, where=checked.where, rule=rule, remedy=remedy)
    return PendingRevision(change, leaving, reasons, refusal)


def pending_in(study_dir: Path, checked: CheckedStudy) -> PendingRevision | None:
    """Return the revision that a file would make of the study in a folder."""
    if not has_ledger(study_dir):
        return None
    with Reader(study_dir) as reader:
        return pending_revision(reader.ledger, checked)


def is_another_file(frozen: StudyRecord, where: str) -> bool:
    """Whether the file of a frozen study is still there, and this is no copy of it.

    A job's own copy of a file is none, since who submits it knows the study, nor is the file of an archive.
    """
    path, first = Path(where), Path(frozen.file)
    is_of_job = any(OF_A_JOB.fullmatch(str(one.absolute())) for one in (path, first))
    is_copy = is_of_job or (path.parent / ORIGIN).is_file()
    if not frozen.file or not path.is_file() or is_copy or path.resolve() == first:
        return False
    return first.is_file() and hash_file(path) not in (frozen.file_hash, hash_file(first))


def _leaving(ledger: LedgerQueries, checked: CheckedStudy) -> list[CellRecord]:
    """Return the complete cells that are of no row or seed of the file."""
    rows, settings = {row.trial for row in checked.rows}, checked.study.search_settings
    seeds = {"confirm": settings.confirm.seeds, "path": settings.ablation_path.seeds}
    seeds = {"grid": checked.study.all_seeds} if rows else seeds
    cells = [one for one in ledger.cells() if one.stage in seeds and not one.retired]
    cells = [one for one in cells if one.status == "complete"]
    trials = trials_by_number(cells)
    return [
        one
        for one in cells
        if one.seed not in seeds[one.stage] or (rows and trials.get(one.trial) not in rows)
    ]


def trial_of(cell: CellRecord) -> Trial | None:
    """Return a cell's trial; None if today's code has no such one."""
    try:
        return Trial.model_validate(cell.config)
    except (ValidationError, InputError):
        return None


def trials_by_number(cells: Iterable[CellRecord]) -> dict[int, Trial]:
    """Return the trials of cells, each read once, that today's code knows."""
    first = {cell.trial: cell for cell in cells}
    read = {number: trial_of(cell) for number, cell in first.items()}
    return {number: trial for number, trial in read.items() if trial is not None}


def named_cells(frozen: StudyRecord, cells: Sequence[CellRecord]) -> str:
    """Name cells by row, with their seeds."""
    names = names_of_records(frozen, cells)
    seeds: dict[str, list[str]] = {}
    for name, cell in zip(names, cells, strict=True):
        seeds.setdefault(name, []).append(str(cell.seed))
    shown = [f"{name} (seed{'s' * (len(of) > 1)} {', '.join(of)})" for name, of in seeds.items()]
    more = [f"and {len(shown) - MOST_NAMED} more rows"] if len(shown) > MOST_NAMED else []
    return "; ".join([*shown[:MOST_NAMED], *more])
