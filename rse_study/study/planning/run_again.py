"""Ended cells that run again: one count for `plan`, `run` and completion."""

from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from rse_study.errors import InputError
from rse_study.results.files.queries import LedgerQueries
from rse_study.results.reader import as_next_run_finds
from rse_study.results.records import FINISHED, CellRecord
from rse_study.results.study_record import StudyRecord
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.pending import named_cells, trials_by_number
from rse_study.training.materials import Materials, PrepareMaterials, identity_on, other_materials
from rse_study.training.trial import Trial

NO_MATERIALS: Mapping[str, str] = {}
OTHER_CODE = "its code computes other numbers"
GO_ON = (
    "Give the study another name, or go on with what it was begun with: `rse-study archive`, where it ran, packs the "
    "weights of a base that was trained there. `report`, `check` and `doctor --rebuild` need none of it"
)


@dataclass(frozen=True)
class KnownCells:
    """Cells of a ledger that belong to a file's first stage, and those that run again."""

    frozen: StudyRecord | None = None
    cells: tuple[CellRecord, ...] = ()
    """with the status that the next run finds"""
    reasons: Mapping[str, str] = field(default_factory=dict)
    """why some of them run again, by identity"""

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
        """Return a line for each reason to run cells again, as `describe` does."""
        current = [one for one in self.cells if not one.retired and (one.trial, one.seed) not in self.ended]
        return describe(self.frozen, current, self.reasons) if self.frozen else []


def known_cells(
    ledger: LedgerQueries, study_dir: Path, checked: CheckedStudy, prepare: PrepareMaterials | None
) -> KnownCells:
    """Return the cells of a file's rows, or of its search, in a ledger.

    If their materials are not here, those on record count.
    """
    frozen, cells = ledger.study(), as_next_run_finds(ledger.cells(), study_dir)
    last = ledger.last_points(frozen.objective.metric) if frozen else {}
    rows, stage = {row.trial for row in checked.rows}, "grid" if checked.rows else "search"
    staged = [cell for cell in cells if cell.stage == stage]
    trials = trials_by_number(staged)
    known = tuple(cell for cell in staged if not rows or trials.get(cell.trial) in rows)
    ended = [cell for cell in known if cell.status in FINISHED]
    on_record = [cell for cell in known if not cell.retired and "materials" in cell.provenance]
    try:
        reasons = run_again(ended if prepare else on_record, prepare, last, rows)
    except InputError:
        reasons = run_again(on_record, None, last, rows)
    return KnownCells(frozen, known, reasons)


def run_again(
    cells: Iterable[CellRecord],
    prepare: PrepareMaterials | None,
    last_points: Mapping[str, tuple[int, float]],
    rows: Collection[Trial] = (),
    of_run: Mapping[str, str] = NO_MATERIALS,
) -> dict[str, str]:
    """Return the reasons of ended cells that would be others today, by identity.

    Without `prepare`, or for parts that it leaves out, the materials on record count. Of a grid only `rows` do.
    Cells without a record of their own have that of the last run.
    """
    reasons, known, cells = dict[str, str](), dict[Hashable, Materials](), list(cells)
    trials = trials_by_number(cells)
    for cell in cells:
        trial, before = trials.get(cell.trial), cell.provenance.get("materials", of_run)
        if trial is None or (rows and trial not in rows) or (prepare is None and cell.status != "complete"):
            continue  # no row of the file or of today's code, or a cell of which too little is known
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


def describe(frozen: StudyRecord, cells: Iterable[CellRecord], reasons: Mapping[str, str]) -> list[str]:
    """Return a line for each reason, with its cells.

    Raises InputError for those of a search, whose trials cannot be compared with others.
    """
    of_reason: dict[str, list[CellRecord]] = {}
    for cell in cells:
        if cell.identity in reasons:
            of_reason.setdefault(reasons[cell.identity], []).append(cell)
    if frozen.kind == "search" and of_reason:
        changed, (first, *_) = next(iter(of_reason.items()))
        what = f"trial {first.trial} was another cell when it ran: {first.identity[:16]}"
        rule = f"the trials of a search share corpus, base and the code's numbers, and {changed}"
        raise InputError(what, where=frozen.name, rule=rule, remedy=GO_ON)
    return [
        f"cells that run again ({len(some)}), since {why}: {named_cells(frozen, some)}"
        for why, some in of_reason.items()
    ]
