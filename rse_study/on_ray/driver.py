"""A study from its first cell to its last score: the one process that writes the ledger."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

from rse_study.errors import InputError
from rse_study.evaluation.evaluations import Evaluation
from rse_study.evaluation.replayed import ReplayedAttack, ReplayedPairs
from rse_study.evaluation.replayed_texts import ReplayedTextAttack, ReplayedTexts
from rse_study.evaluation.sts import Similarity
from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.cell_queue import CellQueue
from rse_study.on_ray.fixed_cells import FixedCells
from rse_study.on_ray.importance import importance_rows
from rse_study.on_ray.payload import MaterialsCache, PrepareMaterials, StudyFolders
from rse_study.on_ray.proposed_cells import ProposedCells
from rse_study.on_ray.proposer import Proposer, describe_sampler
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.scoring import Scoring
from rse_study.on_ray.stages import confirm_cells, grid_cells
from rse_study.results.ledger import Ledger
from rse_study.results.rebuild import rebuild
from rse_study.results.records import BASELINES, FINISHED, Stage
from rse_study.results.schema import ledger_path
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.record import provenance_of, resolved, study_record
from rse_study.study.revisions import change_between
from rse_study.training.interrupts import graceful_interrupt
from rse_study.training.materials import Materials

ReadEvaluation = Callable[[str], Evaluation]
GONE = "the driver ended while it ran"


def run_study(
    checked: CheckedStudy,
    directory: Path,
    prepare: PrepareMaterials,
    read: ReadEvaluation,
    watcher: StudyCallback,
    *,
    num_cpus: int = 0,
    address: str = "",
) -> Path:
    """Run what is missing of the study and return its folder. Call it again after an interruption.

    `prepare` makes (or finds) what a trial is trained on, `read` an evaluation with its data; both are
    called in the driver, before a cell starts. Raises InputError where the study cannot run here,
    KeyboardInterrupt after an interruption, when running cells have ended and Ray is gone.
    """
    place = StudyFolders(directory.resolve())
    if not ledger_path(place.study).exists() and (place.study / "study.json").exists():
        found = rebuild(place.study)
        watcher.told(f"the ledger was gone: rebuilt, with {found.num_results} results found on disk")
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger.open(place.study))
        run = StudyRun(checked, place, ledger, MaterialsCache(prepare), read, watcher)
        run.prepare()
        room = RayRuntime(stack, place, run.stock, num_cpus, address)
        stack.enter_context(graceful_interrupt(lambda: _close(room, watcher)))
        run.all_stages(room)
        if room.closing.is_set():
            raise KeyboardInterrupt
    return place.study


def judges_of(base: Materials) -> Iterator[Evaluation]:
    """What every look at a trial measures, as evaluations that baselines are scored on."""
    yield Similarity(base.dev)
    if base.replayed:
        yield ReplayedAttack(ReplayedPairs.open(Path(base.replayed)))
    if base.replayed_texts:
        yield ReplayedTextAttack(ReplayedTexts.open(Path(base.replayed_texts)))


def _close(room: RayRuntime, watcher: StudyCallback) -> None:
    room.closing.set()
    watcher.told("interrupted: running cells end first, no other starts; once more stops now")


class StudyRun:
    """One run of a study: its stages in order, each of them doing what is still missing."""

    def __init__(
        self,
        checked: CheckedStudy,
        place: StudyFolders,
        ledger: Ledger,
        stock: MaterialsCache,
        read: ReadEvaluation,
        watcher: StudyCallback,
    ) -> None:
        self._checked, self._study, self._place = checked, checked.study, place
        self._ledger, self.stock, self._read, self._watcher = ledger, stock, read, watcher

    def prepare(self) -> None:
        """Refuse what cannot run, before anything is frozen; then freeze the study and measure its baselines."""
        self._refuse_another_question()
        study, base = self._study, self.stock.of(self._study.base)
        for point in self._checked.space.edges() if study.grid is None else ():
            self.stock.of(self._checked.space.apply(point))
        for row in self._checked.rows:
            self.stock.of(row.trial)
        self._refuse_other_materials()
        evaluations, judges = [self._read(name) for name in study.evaluations], list(judges_of(base))
        record = study_record(self._checked, base.dev, evaluations, judges)
        known = self._ledger.study()
        self._ledger.freeze(record, change_between(known, record) if known else "created")
        self._ledger.close_attempts(GONE)
        before = self._ledger.last_provenance().get("materials", {})
        if before.get("base") != base.fingerprints["base"]:  # a ledger that was rebuilt does not know
            reason = "baselines: the base's weights are others than before, or nobody knows"
            self._ledger.withdraw_evaluations(BASELINES.keys(), reason)
        sampler = {} if study.grid else {"sampler": describe_sampler(study.sampler)}
        self._ledger.add_provenance(provenance_of(base, study.resources) | sampler)
        of = study, self._place, self._ledger, self.stock, self._watcher
        self._scoring = Scoring(*of, evaluations, judges)
        self._scoring.baselines()

    def _refuse_another_question(self) -> None:
        """InputErrors where the study's name owns another question: before corpora are read and encoders made."""
        known = self._ledger.study()
        if known is not None:
            kind = "search" if self._study.grid is None else "grid"
            asked = {"kind": kind, "name": self._study.name, "resolved": resolved(self._study)}
            change_between(known, known.model_copy(update=asked))

    def _refuse_other_materials(self) -> None:
        """InputError where a search has trials of other materials: its sampler would compare what is not alike."""
        searched = [record for record in self._ledger.cells() if record.stage == "search"]
        for record in searched if self._study.grid is None else ():
            trial = self._checked.space.apply(record.proposal)
            if record.status in FINISHED and self.stock.identify(trial, record.seed) != record.identity:
                what = f"trial {record.trial} was another cell when it ran: {record.identity[:16]}"
                rule = "the trials of a search share corpus, base and the code's numbers"
                remedy = "Give the study another name, or go on with what it was begun with"
                raise InputError(what, where=self._study.name, rule=rule, remedy=remedy)

    def all_stages(self, room: RayRuntime) -> None:
        """The grid, or the search and its confirmation; then every score that is missing."""
        if self._study.grid is not None:
            cells = grid_cells(self._checked, self._ledger, self.stock.identify)
            self._list("grid", cells, room)
        else:
            self._search(room)
            cells = self._confirm(room)
        if not room.closing.is_set():
            self._scoring.everything([cell for cell in cells if not cell.continues], room)

    def _search(self, room: RayRuntime) -> None:
        study, checked = self._study, self._checked
        domains = {axis.name: axis.domain for axis in checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, study.objective.direction)
        source = ProposedCells(checked, proposer, self.stock.identify)
        agenda = CellQueue(study, "search", source, self._ledger, checked.rungs)
        room.run(agenda, study.resources, self._watcher)
        self._ledger.record_importance(
            importance_rows(checked.space.axes, self._complete_trials(), study.objective.direction)
        )

    def _confirm(self, room: RayRuntime) -> list[Cell]:
        if self._study.confirm is None or room.closing.is_set():
            return []
        cells = confirm_cells(self._checked, self._ledger, self.stock.identify)
        self._list("search", [cell for cell in cells if cell.continues], room)
        self._list("confirm", [cell for cell in cells if not cell.continues], room)
        return cells

    def _list(self, stage: Stage, cells: list[Cell], room: RayRuntime) -> None:
        """Run cells that are known beforehand."""
        if not cells:
            return
        if stage != "search":
            self._ledger.retire_others({cell.identity for cell in cells}, stage)
        agenda = CellQueue(self._study, stage, FixedCells(cells, self._ledger), self._ledger)
        if agenda.num_left:
            self._watcher.told(f"{stage}: {agenda.num_left} of {len(cells)} cells to run")
        room.run(agenda, cells[0].resources, self._watcher)

    def _complete_trials(self) -> list[tuple[dict[str, object], float]]:
        values = self._ledger.last_points(self._study.objective.metric)
        searched = [record for record in self._ledger.cells() if record.stage == "search"]
        return [(r.proposal, values[r.identity][1]) for r in searched if r.status == "complete"]
