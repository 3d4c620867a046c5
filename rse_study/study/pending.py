"""A revision that a file would make of its study, and the consent it wants."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.files.connect import is_lost, open_study
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.files.schema import ledger_path
from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_labelled
from rse_study.results.study_record import StudyRecord
from rse_study.spec import hash_file
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.revisions import change_to
from rse_study.training.trial import Trial

MOST_NAMED = 12


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
    """Return the revision that a file would make; None for the same study or a new one.

    A file that only adds to the study it was frozen from, or raises its budget, needs no consent. InputErrors name
    changes that are no revision.
    """
    frozen = ledger.study()
    change = change_to(frozen, checked.study) if frozen else ""
    if frozen is None or not change:
        return None
    cells = [cell for cell in ledger.cells() if cell.status == "complete" and not cell.retired]
    left = [cell for cell, _ in _leaving(cells, checked)]
    is_other = is_another_file(frozen, checked.where)
    is_larger = not is_other and all(grows for _, grows in _leaving(cells, checked))
    leaving = f"complete cells that leave it ({len(left)}): {named_cells(frozen, left)}" if left else ""
    asked = f"its question was {frozen.question!r}" if frozen.question != checked.study.question else ""
    of_file = f"it was last run from another file, {frozen.file}" if is_other else ""
    reasons = tuple(reason for reason in (of_file, asked, "" if is_larger else leaving) if reason)
    remedy = "Give this file a `name` of its own, or consent: `run --revise`"
    rule = "; ".join(reasons)
    refusal = InputError(f"revises a study: {change}", where=checked.where, rule=rule, remedy=remedy)
    return PendingRevision(change, leaving, reasons, refusal)


def pending_in(study_dir: Path, checked: CheckedStudy) -> PendingRevision | None:
    """Return the revision that a file would make of the study in a folder, if one has run there."""
    if not ledger_path(study_dir).is_file() or is_lost(study_dir):
        return None
    with closing(open_study(study_dir)) as connection:
        return pending_revision(LedgerQueries(connection), checked)


def is_another_file(frozen: StudyRecord, where: str) -> bool:
    """Whether the file that a study was frozen from is still there, and this is no copy of it.

    A job's own copy of a file is none; who submits it knows the study.
    """
    path = Path(where)
    is_of_job = path.name == "study.yaml" and path.absolute().parent.name.startswith("rse-")
    if not frozen.file or not path.is_file() or is_of_job or path.resolve() == Path(frozen.file):
        return False
    return Path(frozen.file).is_file() and hash_file(path) != frozen.file_hash


def _leaving(cells: list[CellRecord], checked: CheckedStudy) -> Iterator[tuple[CellRecord, bool]]:
    """Yield cells that the file has no more, and whether it only gives them a larger budget."""
    study = checked.study
    seeds = set(study.all_seeds if study.grid is not None else study.search_settings.confirm.seeds)
    rows = {row.trial for row in checked.rows}
    budgets = {_without_budget(trial): trial.budget for trial in rows}
    for cell in cells:
        if cell.stage == "confirm" and cell.seed not in seeds:
            yield cell, False
        elif cell.stage == "grid":
            try:
                trial = Trial.model_validate(cell.config)
            except ValidationError:  # today's code has no such trial
                yield cell, False
                continue
            if trial not in rows or cell.seed not in seeds:
                now = budgets.get(_without_budget(trial), trial.budget)
                grows = now.unit == trial.budget.unit and now.amount > trial.budget.amount
                yield cell, grows and cell.seed in seeds


def _without_budget(trial: Trial) -> Trial:
    return trial.model_copy(update={"budget": Trial().budget, "report_every": 1})


def named_cells(frozen: StudyRecord, cells: Sequence[CellRecord]) -> str:
    """Name cells by row, with their seeds."""
    names = names_of_labelled(frozen, [(one.trial, one.label, one.proposal, False) for one in cells])
    seeds: dict[str, list[str]] = {}
    for name, cell in zip(names, cells, strict=True):
        seeds.setdefault(name, []).append(str(cell.seed))
    shown = [f"{name} (seed{'s' * (len(of) > 1)} {', '.join(of)})" for name, of in seeds.items()]
    more = [f"and {len(shown) - MOST_NAMED} more rows"] if len(shown) > MOST_NAMED else []
    return "; ".join([*shown[:MOST_NAMED], *more])
