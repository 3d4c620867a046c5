"""Changes of a file since its study ran: a revision, and cells that run again."""

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from pydantic import ValidationError

from rse_study.errors import InputError
from rse_study.results.archive import ORIGIN
from rse_study.results.files.connect import has_ledger
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import Reader
from rse_study.results.records import FINISHED, CellRecord
from rse_study.results.row_names import names_of_records
from rse_study.results.study_record import StudyRecord
from rse_study.spec import hash_file
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.revisions import change_to
from rse_study.training.materials import Materials, PrepareMaterials, identity_on, other_materials
from rse_study.training.trial import Trial

MOST_NAMED = 12
# A job's own copy of a file: under Slurm, in the folder of a submission, or where Ray unpacks that.
OF_A_JOB = re.compile(r".*/(rse-(\d+-){2}\d+|rse-.+-[0-9a-f]{12}(-\d+)?(/code)?|_ray_pkg_\w+)/study\.yaml")
OTHER_CODE = "its code computes other numbers"
GO_ON = (
    "Give the study another name, or go on with what it was begun with: `rse-study archive`, where it ran, packs the "
    "weights of a base that was trained there. `report`, `status`, `check` and `compare` need none of it"
)


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


@dataclass(frozen=True)
class KnownCells:
    """Cells of a ledger that belong to a file's first stage, and those that run again."""

    frozen: StudyRecord | None = None
    cells: tuple[CellRecord, ...] = ()
    """with the status that the next run finds"""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """why some of them run again, by identity"""
    trials: Mapping[int, Trial] = field(default_factory=dict)
    """of these cells and others of their stage, by number, as far as today's code knows them"""

    @cached_property
    def ended(self) -> dict[tuple[int, int], CellRecord]:
        """The ended cell of each row, by number, and seed that need not be run.

        A retired cell counts only where none has replaced it.
        """
        last = sorted(self.cells, key=lambda one: (one.identity in self.reasons, one.retired), reverse=True)
        newest = {(one.trial, one.seed): one for one in last}.items()
        return {
            key: one for key, one in newest if one.status in FINISHED and one.identity not in self.reasons
        }

    def lines(self) -> list[str]:
        """Return a line for each reason to run cells again, with its cells.

        Raises InputError for those of a search, whose trials cannot be compared with others.
        """
        of_reason: dict[str, list[CellRecord]] = {}
        for cell in (one for one in self.cells if one.identity in self.reasons and not one.retired):
            if (cell.trial, cell.seed) not in self.ended:
                of_reason.setdefault(self.reasons[cell.identity], []).append(cell)
        if not self.frozen or not of_reason:
            return []
        if self.frozen.kind == "search":
            changed, (first, *_) = next(iter(of_reason.items()))
            what = f"trial {first.trial} was another cell when it ran: {first.identity[:16]}"
            rule = f"the trials of a search share corpus, base and the code's numbers, and {changed}"
            raise InputError(what, where=self.frozen.name, rule=rule, remedy=GO_ON)
        return [
            f"cells that run again ({len(some)}), since {why}: {named_cells(self.frozen, some)}"
            for why, some in of_reason.items()
        ]


def known_cells(
    ledger: LedgerQueries,
    cells: Iterable[CellRecord],
    checked: CheckedStudy,
    prepare: PrepareMaterials | None,
) -> KnownCells:
    """Return the cells of a file's rows, or of its search.

    `cells` are the ledger's, as the next run finds them. Without `prepare`, the materials on record count.
    """
    frozen, runs = ledger.study(), ledger.provenance()
    of_run = runs[-1].get("materials", {}) if runs else {}
    last = ledger.last_points(frozen.objective.metric) if frozen else {}
    rows, stage = {row.trial for row in checked.rows}, "grid" if checked.rows else "search"
    staged = [cell for cell in cells if cell.stage == stage]
    trials = trials_by_number(staged)
    known = tuple(cell for cell in staged if not rows or trials.get(cell.trial) in rows)
    ended = [cell for cell in known if cell.status in FINISHED and cell.trial in trials]
    on_record = [one for one in ended if one.status == "complete" and "materials" in one.provenance]
    on_record = [one for one in on_record if not one.retired]
    reasons = run_again(ended if prepare else on_record, trials, prepare, last, of_run)
    return KnownCells(frozen, known, reasons, trials)


def run_again(
    cells: Iterable[CellRecord],
    trials: Mapping[int, Trial],
    prepare: PrepareMaterials | None,
    last_points: Mapping[str, tuple[int, float]],
    of_run: Mapping[str, str],
) -> dict[str, str]:
    """Return the reasons of ended cells that would be others today, by identity.

    Without `prepare`, or for parts that it leaves out, the materials on record count. Cells without a record of their
    own have that of the last run.
    """
    reasons, known = dict[str, str](), dict[Hashable, Materials]()
    for cell in cells:
        trial, before = trials[cell.trial], cell.provenance.get("materials", of_run)
        now, num_steps = before, last_points.get(cell.identity, (0, 0.0))[0]
        if prepare is not None:
            if trial.needs() not in known:
                known[trial.needs()] = prepare(trial)
            materials = known[trial.needs()]
            now = {part: one for part, one in before.items() if part.startswith("replayed")}
            now |= materials.fingerprints
            num_steps = trial.num_steps(materials.num_sentences // trial.batch_size)
        if identity_on(trial, cell.seed, now, num_steps) != cell.identity:
            reasons[cell.identity] = "; ".join(other_materials(before, now) if before else ()) or OTHER_CODE
    return reasons
