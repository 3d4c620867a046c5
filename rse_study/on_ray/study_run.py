"""One run of a study, by the only process that writes its ledger."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from rse_study.data import data_dir, study_folders
from rse_study.errors import InputError
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue import Cell, StudyCallback, stages
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.queue.cell_sources import FixedCells, Grow, GrowingCells, ProposedCells, wanted_cells
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.scoring import BackgroundWork, Scoring
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.stored.shared_cells import Machines, bring_shared_cells, machine_of, machines_of
from rse_study.on_ray.workers.worker import describe
from rse_study.results.files.ledger import Ledger
from rse_study.results.reader import as_next_run_finds, cells_for_next_run
from rse_study.results.records import BASELINES, FINISHED, CellRecord, EvaluationRow, Stage
from rse_study.sampling.importance import enter_importance
from rse_study.sampling.proposer import Proposer, deciding_rule, describe_rule
from rse_study.sampling.samplers import describe_sampler
from rse_study.search.budget import has_room
from rse_study.search.state import search_state
from rse_study.study.checking.validation import CheckedStudy
from rse_study.study.definition.config import Study
from rse_study.study.definition.space import Axis
from rse_study.study.pending import PendingRevision, known_cells, pending_revision
from rse_study.study.planning.footprint import trials_of
from rse_study.study.planning.plan import check_hours, plan_study
from rse_study.study.planning.probe import probe
from rse_study.study.record import provenance_of, study_record
from rse_study.study.revisions import change_between
from rse_study.training.materials import Materials
from rse_study.training.session import judges_of

ReadEvaluation = Callable[[str], Evaluation]
"""Returns an evaluation with its data, by name."""
AskConsent = Callable[[PendingRevision], bool]
"""Returns whether a revision is wanted."""
MANY_EVENTS = 100  # among which a note is looked for
DRIVER_ENDED = "the driver ended while it ran"


@dataclass(eq=False)
class StudyRun:
    """Runs the stages of a study in order, each as far as it is missing."""

    checked: CheckedStudy
    files: StudyFiles
    ledger: Ledger
    materials: MaterialsCache
    read: ReadEvaluation
    callback: StudyCallback
    refusal: Exception | None = None

    @property
    def study(self) -> Study:
        return self.checked.study

    def prepare(self, consents: AskConsent = lambda pending: True, max_hours: float | None = None) -> None:
        """Read materials and evaluations, then freeze the study; refuse before that."""
        self._refuse_another_question(consents)
        study, base = self.study, self.materials.of(self.checked.base)
        for trial in trials_of(self.checked):
            self.materials.of(trial)
        records = as_next_run_finds(self.ledger.cells(), self.ledger.study_dir)
        for line in known_cells(self.ledger, records, self.checked, self.materials.of).lines():
            self.callback.message(line)
        if max_hours and self.checked.rows:
            self._refuse_long_grid(max_hours)
        evaluations, judges = [self.read(name) for name in study.evaluation_names], judges_of(base)
        self._freeze(base, evaluations, judges)
        self._ended = {cell.identity for cell in records if cell.status in FINISHED}
        ledger, callback = self.ledger, self.callback
        self._scoring = Scoring(
            study, self.checked.base, self.files, ledger, self.materials, callback, evaluations, judges
        )

    def _freeze(self, base: Materials, evaluations: list[Evaluation], judges: Sequence[Evaluation]) -> None:
        """Enter the study as it is now, with the provenance of its numbers."""
        study, folders = self.study, study_folders(self.checked.folder, data_dir())
        own = self.materials.find_own(study, self.checked.base, *folders)
        record = study_record(self.checked, base.dev, evaluations, judges, own)
        before = self.ledger.study()
        self.ledger.freeze(record, change_between(before, record) if before else "created")
        self.ledger.close_attempts(DRIVER_ENDED)
        materials = self.ledger.last_provenance().get("materials", {})
        if materials.get("base") != base.fingerprints["base"]:  # a ledger that was rebuilt does not know
            reason = "baselines: the base's weights have changed, or may have"
            self.ledger.withdraw_evaluations(BASELINES.keys(), reason)
        elif materials.get("corpus") != base.fingerprints["corpus"]:
            self.ledger.withdraw_evaluations(["flow"], "baseline flow: the corpus has changed")
        if gone := before.baselines.keys() - record.baselines.keys() if before else ():
            self.ledger.withdraw_evaluations(gone, f"baselines changed or removed: {', '.join(sorted(gone))}")
        is_conditional, folder = self.checked.space.is_conditional, self.checked.folder
        described = describe_sampler(study.sampler, is_conditional=is_conditional, folder=folder)
        stops = describe_rule(study, folder)
        of_search = {} if study.grid else {"sampler": described} | stops
        self.ledger.add_provenance(provenance_of(base, study.resources, evaluations) | of_search)
        self.ledger.back_up()

    def _refuse_another_question(self, consents: AskConsent) -> None:
        """Refuse a name that belongs to a different question, before reading corpora."""
        pending = pending_revision(self.ledger, self.checked)
        if pending is not None:
            if pending.reasons and not consents(pending):
                raise pending.refusal
            self.callback.message(f"revision: {pending}")

    def _refuse_long_grid(self, max_hours: float) -> None:
        """Raise OverBudget by the sum that `plan` says, from the materials that are here; without history, probe."""
        store = self.ledger.study_dir.parent
        planned = plan_study(self.checked, store, self.materials.of)
        if planned.device_hours is None:
            on_progress = partial(self.callback.advanced, "probe: trials timed")
            timed = probe(self.checked, self.materials.of, on_progress)
            planned = plan_study(self.checked, store, self.materials.of, lambda *given: timed)
        for warning in check_hours(planned, max_hours):
            self.callback.message(f"warning: {warning}")

    def baselines(self) -> Iterator[list[EvaluationRow]]:
        """Return a generator of the baselines' missing scores; enters nothing."""
        return self._scoring.baselines()

    def all_stages(self, runtime: RayRuntime) -> None:
        """Run the grid, or search, confirmation and path, beside baselines; then score."""
        with BackgroundWork(self.baselines()) as baselines:
            runtime.meanwhile = lambda: self._look_on(baselines.made(), runtime)
            cells = self._run_cells(runtime)
            self._enter(baselines.rest(runtime.closing), runtime)
        if not runtime.closing.is_set():
            runtime.persist(lambda: self._scoring.everything(cells, runtime))
        if self.refusal is not None:
            raise self.refusal

    def _look_on(self, baselines: Iterator[list[EvaluationRow]], runtime: RayRuntime) -> None:
        """Enter the baselines' scores; stop where the ledger's file was removed."""
        self.ledger.require_file()
        self._enter(baselines, runtime)

    def _enter(self, baselines: Iterator[list[EvaluationRow]], runtime: RayRuntime) -> None:
        """Enter scores of baselines; an error is only noted: raised here, it would kill the cells that Tune runs."""
        try:
            for rows in baselines:
                self.ledger.record_evaluations(rows)
        except Exception as error:
            self.refusal = error
            said = str(error) if isinstance(error, InputError) else f"baselines: {describe(error)}"
            self.callback.message(f"{said} (running cells finish first, and no others start)")
            runtime.closing.set()

    def _run_cells(self, runtime: RayRuntime) -> list[Cell]:
        """Run what is missing; return the grid's or the confirmation's cells."""
        if self.study.grid is not None:
            every = partial(stages.every_grid_cell, self.checked, self.ledger, self.materials.identify)
            cells = stages.grid_cells(self.checked, self.ledger, self.materials.identify)
            return self._run_results("grid", cells, every, runtime)
        self._search(runtime)
        cells = self._confirm(runtime)
        self._run_path(runtime)
        return cells

    def _run_results(
        self, stage: Stage, cells: list[Cell], every: Callable[[], list[Cell]], runtime: RayRuntime
    ) -> list[Cell]:
        """Run all cells; where they get seeds until decided, as long as cells that were found ask for more."""
        if not self.study.gives_seeds_until_decided:
            self._run_list(stage, cells, runtime)
            return cells
        while True:
            self._run_list(stage, cells, runtime, GrowingCells(every, self.ledger))
            cells = wanted_cells(every(), self.ledger)
            known = {one.identity for one in self.ledger.cells() if one.stage == stage and not one.retired}
            if runtime.closing.is_set() or known.issuperset(cell.identity for cell in cells):
                return cells

    def _search(self, runtime: RayRuntime) -> None:
        study, checked = self.study, self.checked
        domains = {axis.name: axis.domain for axis in checked.space.axes}
        proposer = Proposer(domains, study.sampler, study.search_seed, study.directions, checked.folder)
        source = ProposedCells(checked, proposer, self.materials.identify)
        self._tell_ended([one for one in self.ledger.cells() if one.stage == "search" and not one.retired])
        queue = CellQueue(
            study,
            "search",
            source,
            self.ledger,
            self.files,
            checked.rungs,
            has_room=partial(has_room, self.ledger),
            settled=self._scoring.drop_settled,
            axes=self._axes_by_heading(),
            rule=deciding_rule(study, checked.folder),
        )
        runtime.run(queue, study.resources, self.callback)
        self.ledger.back_up()
        if not runtime.closing.is_set():
            self._say_where_it_ended()
            enter_importance(self.ledger)

    def _tell_ended(self, cells: Sequence[Cell | CellRecord]) -> None:
        """Tell once which of these cells had ended before this run."""
        found = [cell for cell in cells if cell.identity in self._ended]
        self._ended.difference_update(cell.identity for cell in found)
        if found:
            self.callback.cells_found(found)

    def _axes_by_heading(self) -> dict[str, Axis]:
        """Return the axes as tables name them: by symbol, unless two share it."""
        frozen = self.ledger.study()
        assert frozen is not None, "cells run after the study was frozen"
        return dict(zip(frozen.headings, self.checked.space.axes, strict=True))

    def _say_where_it_ended(self) -> None:
        """Note once that the budget has ended the search."""
        cells = cells_for_next_run(self.ledger, self.ledger.study_dir)
        said = search_state(self.ledger, cells, is_held=True).reason_of_end
        if not said:
            return
        if not any(event["text"] == said for event in self.ledger.last_events(MANY_EVENTS)):
            self.ledger.log("budget", said)
        self.callback.message(said)

    def _confirm(self, runtime: RayRuntime) -> list[Cell]:
        if self.study.confirm is None or runtime.closing.is_set():
            return []
        about = self.checked, self.ledger, self.materials.identify

        def every() -> list[Cell]:
            return [cell for cell in stages.every_confirm_cell(*about) if not cell.continues]

        cells = stages.confirm_cells(*about)
        continued = [cell for cell in cells if cell.continues]
        self._run_list("search", continued, runtime)
        if continued and not runtime.closing.is_set():  # there are more trials of the full budget now
            enter_importance(self.ledger)
        cells = [cell for cell in cells if not cell.continues]
        return self._run_results("confirm", cells, every, runtime)

    def _run_path(self, runtime: RayRuntime) -> None:
        for cells in stages.path_rounds(self.checked, self.ledger, self.materials.identify):
            if runtime.closing.is_set():
                return
            self._run_list("path", cells, runtime)

    def _run_list(
        self,
        stage: Stage,
        cells: list[Cell],
        runtime: RayRuntime,
        grown: Grow = lambda ended: (),
    ) -> None:
        if not cells:
            return
        self._tell_ended(cells)
        if stage != "search":
            self.ledger.claim([cell.record() for cell in cells])
            self.ledger.retire_others({cell.identity for cell in cells}, stage)
        asked = self._scoring.by_cells if stage in ("grid", "confirm") else []
        source = FixedCells(cells, self.ledger, grown)
        if stage != "search":
            self._bring_shared(cells, asked, runtime)
        queue = CellQueue(
            self.study,
            stage,
            source,
            self.ledger,
            self.files,
            evaluations=asked,
            settled=self._scoring.drop_settled,
            axes=self._axes_by_heading(),
        )
        if queue.num_left:
            self.callback.message(f"{stage}: {queue.num_left} of {len(cells)} cells to run")
        runtime.run(queue, cells[0].resources, self.callback)
        self.ledger.back_up()

    def _bring_shared(self, cells: list[Cell], asked: list[Evaluation], runtime: RayRuntime) -> None:
        """Take over cells that other studies have run, unless the files are in a storage."""
        if self.files.storage is not None:
            return
        with_models = self.study.keep_models != "none" or len(asked) < len(self.study.evaluations)
        names = {}
        machines = _remembered_machines(runtime)
        for identity, name in bring_shared_cells(
            self.ledger, cells, asked, machines, with_models=with_models
        ):
            self.ledger.log("shared", f"taken from the study {name}", identity)
            names[identity] = name
        if names:
            studies = ", ".join(sorted(set(names.values())))
            self.callback.message(f"{len(names)} of {len(cells)} cells are taken from {studies}")
            self.callback.cells_found([cell for cell in cells if cell.identity in names])


def _remembered_machines(runtime: RayRuntime) -> Machines:
    """Tell the machines that might run a cell: this one, or for GPUs those of Ray."""
    known = dict[tuple[str, str], list[dict[str, Any]]]()

    def machines(cell: Cell) -> list[dict[str, Any]]:
        if not cell.resources.gpus:
            return [machine_of(cell)]
        key = (cell.trial.precision, cell.resources.model_dump_json())
        if key not in known:
            runtime.open(cell.resources)
            known[key] = machines_of(cell, runtime.nodes)
        return known[key]

    return machines
