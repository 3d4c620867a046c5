"""Scores of a study's baselines and kept models, if need be in a thread."""

import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import isfinite
from queue import SimpleQueue
from threading import Event, Thread
from typing import Generic, TypeVar

import ray

from rse_study.downstream.models import CLASSIFIERS, FineTunedEvaluation
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue import Cell, StudyCallback
from rse_study.on_ray.runtime import RayRuntime
from rse_study.on_ray.stored import MaterialsCache, StudyFiles
from rse_study.on_ray.workers.evaluations import as_they_come, start_scoring
from rse_study.results.files.backup import BACKUP_SECONDS
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import Result
from rse_study.results.files.schema import baselines_folder
from rse_study.results.records import CellRecord, EvaluationRow
from rse_study.search.choice import best_first
from rse_study.study.baselines import can_measure, measure_baseline_once
from rse_study.study.definition.config import Study
from rse_study.training.trial import Trial

WITHOUT_ENCODER = "token_overlap"
EVALUATED = "evaluated"
"""the activity of `everything`, counted in tasks"""


@dataclass(eq=False)
class Scoring:
    """Measures the scores that a study lacks."""

    study: Study
    base: Trial
    files: StudyFiles
    ledger: Ledger
    materials: MaterialsCache
    callback: StudyCallback
    evaluations: Sequence[Evaluation]
    judges: Sequence[Evaluation]
    _carried: dict[str, ray.ObjectRef] = field(default_factory=dict)
    _best: tuple[str, int, float] | None = None
    """identity, step and objective"""

    @property
    def by_cells(self) -> list[Evaluation]:
        """Evaluations of vectors alone, which a cell's own process measures."""
        return [one for one in self.evaluations if not isinstance(one, FineTunedEvaluation)]

    def baselines(self) -> Iterator[list[EvaluationRow]]:
        """Return a generator that scores baselines on dev pairs and on vectors.

        The ledger is read now and never written: another thread may consume the generator. Where cells use GPUs,
        encoders are left to tasks that do so, too: a head may have two CPUs.
        """
        lacking = list(self._lacking([*self.judges, *self.by_cells]))
        if self.study.resources.gpus:
            free = {WITHOUT_ENCODER, *(name for name, one in self.materials.own.items() if one.vectors)}
            lacking = [(name, asked) for name, asked in lacking if name in free]
        return self._measured(lacking)

    def _measured(self, wanted: Sequence[tuple[str, list[Evaluation]]]) -> Iterator[list[EvaluationRow]]:
        for name, lacking in wanted:
            base = self.materials.own.get(name, self.base)
            on_progress = partial(self.callback.advanced, f"baseline {name}, evaluations")
            materials = self.materials.of(base)
            yield measure_baseline_once(name, base, materials, lacking, on_progress=on_progress)

    def everything(self, cells: Sequence[Cell], runtime: RayRuntime) -> None:
        """Measure and enter all missing scores, then delete models not to be kept."""
        self._carried.clear()  # a Ray that was started again has none of them
        of_cells = list(self._start_scoring_cells(cells, runtime))
        of_baselines = list(self.start_scoring_baselines(runtime))
        tasks = [*of_cells, *of_baselines]
        if tasks:
            besides = f", {len(of_baselines)} scores of baselines" if of_baselines else ""
            named = ", ".join(self.study.evaluation_names)
            self.callback.message(f"evaluations: {len(of_cells)} models on {named}{besides}")
            self.callback.advanced(EVALUATED, 0, len(tasks))
        for number, rows in enumerate(as_they_come(tasks, runtime.closing, runtime.check), start=1):
            self.ledger.record_evaluations(rows)
            self.ledger.back_up(every=BACKUP_SECONDS)
            self.callback.advanced(EVALUATED, number, len(tasks))
        if not runtime.closing.is_set():
            shutil.rmtree(baselines_folder(self.files.study_dir) / CLASSIFIERS, ignore_errors=True)
            self.files.bring_outcomes()
            self.files.drop_models(self.models_not_kept(cells))

    def _start_scoring_cells(self, cells: Sequence[Cell], runtime: RayRuntime) -> Iterator[ray.ObjectRef]:
        complete = {record.identity for record in self.ledger.cells() if record.status == "complete"}
        scored = self._scored()
        for cell in (one for one in cells if one.identity in complete):
            lacking = [one for one in self.evaluations if _key(cell.identity, one) not in scored]
            if lacking:
                runtime.open(cell.resources)
                yield start_scoring(runtime.payloads.of_cell(cell), [self._carry(one) for one in lacking])

    def start_scoring_baselines(self, runtime: RayRuntime) -> Iterator[ray.ObjectRef]:
        """Start scores that baselines lack, last: no cell should wait for fine-tuning."""
        study, of_vectors = self.study, {one.name: one for one in (*self.judges, *self.by_cells)}
        of_weights = [one for one in self.evaluations if one.name not in of_vectors]
        for name, lacking in self._lacking([*of_vectors.values(), *of_weights]):
            runtime.open(study.resources)
            base = self.materials.own.get(name, self.base)
            payload = runtime.payloads.of_baseline(name, base, study.resources)
            together = [one for one in lacking if one.name in of_vectors]
            parts = [together] * bool(together) + [[one] for one in lacking if one.name not in of_vectors]
            yield from (start_scoring(payload, [self._carry(one) for one in part]) for part in parts)

    def _carry(self, evaluation: Evaluation) -> ray.ObjectRef:
        """Return the evaluation as an object whose data travel to each node once."""
        if evaluation.name not in self._carried:
            self._carried[evaluation.name] = ray.put(self.files.carried(evaluation))
        return self._carried[evaluation.name]

    def _lacking(self, evaluations: Sequence[Evaluation]) -> Iterator[tuple[str, list[Evaluation]]]:
        """Yield baselines with the evaluations on which they have no score."""
        scored = self._scored()
        for name in [*(one for one in self.study.baselines if isinstance(one, str)), *self.materials.own]:
            measurable = [one for one in evaluations if can_measure(name, one)]
            lacking = [one for one in measurable if _key(name, one) not in scored]
            if lacking:
                yield name, lacking

    def _scored(self) -> set[tuple[str, str, str]]:
        return {(row.subject, row.evaluation, row.fingerprint) for row in self.ledger.evaluations()}

    def drop_settled(self, record: CellRecord, result: Result) -> None:
        """Delete models that nobody will ask for once a cell has its scores."""
        study, is_proposed = self.study, record.stage in ("search", "path")
        is_waiting = not is_proposed and len(self.by_cells) < len(self.evaluations)
        if study.keep_models == "final" or is_waiting:
            return
        if study.keep_models == "none" or is_proposed:
            self.files.drop_models([record.identity])
        elif study.grid is not None:
            self.files.drop_models(self._all_but_best(record, result))

    def _all_but_best(self, record: CellRecord, result: Result) -> list[str]:
        """Return the worse of this cell and the best one of this run so far."""
        metric, direction = self.study.objective.metric, self.study.objective.direction
        mine = (record.identity, result.history[-1].t, result.final_value(metric))
        known = [one for one in (self._best, mine) if one is not None and isfinite(one[2])]
        best = best_first(known, direction)[:1]
        dropped = [one[0] for one in (self._best, mine) if one is not None and one[0] not in best]
        self._best = next((one for one in known if one[0] in best), None)
        return dropped

    def models_not_kept(self, cells: Sequence[Cell]) -> list[str]:
        """Return identities of the cells whose model is deleted, by keep_models."""
        complete = [record for record in self.ledger.cells() if record.status == "complete"]
        if self.study.keep_models == "final":
            return []
        if self.study.keep_models == "none":
            kept = set[str]()
        elif self.study.grid is None:
            kept = {cell.identity for cell in cells}
        else:
            last = self.ledger.last_points(self.study.objective.metric)
            of_today = [record.identity for record in complete if not record.retired]
            standings = [(one, *last[one]) for one in of_today if one in last]
            kept = set(best_first(standings, self.study.objective.direction)[:1])
        return [record.identity for record in complete if record.identity not in kept]


def _key(subject: str, evaluation: Evaluation) -> tuple[str, str, str]:
    return subject, evaluation.name, evaluation.fingerprint


Item = TypeVar("Item")
LOOK_SECONDS = 0.2
ENDING_SECONDS = 10.0
"""granted to the item in progress: an interpreter that ends while its thread computes may crash"""


class BackgroundWork(Generic[Item]):
    """A thread that makes items one by one while others take them.

    An error is raised where items are taken. The work must leave its files whole at any moment.
    """

    def __init__(self, items: Iterable[Item]) -> None:
        self._made: SimpleQueue[Item] = SimpleQueue()
        self._error: BaseException | None = None
        self._is_over = Event()
        self._thread = Thread(target=self._make, args=(items,), name="background work", daemon=True)
        self._thread.start()

    def __enter__(self) -> "BackgroundWork[Item]":
        return self

    def __exit__(self, *raised: object) -> None:
        self._is_over.set()
        self._thread.join(ENDING_SECONDS)

    def made(self) -> Iterator[Item]:
        """Yield the items that are made and not yet taken, without waiting."""
        over = not self._thread.is_alive()  # asked before the last look: what is added later is taken later
        while not self._made.empty():
            yield self._made.get()
        if over and self._error is not None:
            error, self._error = self._error, None
            raise error

    def rest(self, closing: Event) -> Iterator[Item]:
        """Yield all items not yet taken, once the last is made or `closing` is set."""
        while self._thread.is_alive() and not closing.is_set():
            self._thread.join(LOOK_SECONDS)
        yield from self.made()

    def _make(self, items: Iterable[Item]) -> None:
        try:
            for item in items:
                self._made.put(item)
                if self._is_over.is_set():
                    break
        except BaseException as error:  # raised again in the thread that takes
            self._error = error
