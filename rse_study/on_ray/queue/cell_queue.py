"""The queue of one stage: the cells left to run, in order."""

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rse_study.errors import InputError, Unavailable
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue import Cell, CellSource, ResultFiles
from rse_study.results.files.ledger import Ledger
from rse_study.results.files.result_file import FILE_NAME, Result, read_result, written_rows
from rse_study.results.files.schema import CHECKPOINT_FOLDER, cell_folder
from rse_study.results.reader import status_for_next_run
from rse_study.results.records import FINISHED, CellRecord, RungRow, Stage, Verdict
from rse_study.search.choice import RUNNING, Observation, judged
from rse_study.search.stopping import StoppingRule, TrialAtRung
from rse_study.study.definition.config import Study
from rse_study.study.definition.space import Axis


@dataclass(eq=False)
class CellQueue:
    """Hands out cells; what they report enters the ledger before anybody knows of it."""

    study: Study
    stage: Stage
    source: CellSource
    ledger: Ledger
    files: ResultFiles
    rungs: tuple[int, ...] = ()
    evaluations: Sequence[Evaluation] = ()
    has_room: Callable[[], bool] = lambda: True
    settled: Callable[[CellRecord, Result], None] = lambda record, result: None
    """is told of a complete cell with all its scores"""
    axes: Mapping[str, Axis] = field(default_factory=dict)
    rule: StoppingRule | None = None

    def __post_init__(self) -> None:
        self.objective = self.study.objective.metric
        self._rule = self.rule or self.study.early_stopping
        self._room: bool | None = None  # as it is until another cell begins or ends
        self._interrupted: list[Cell] = []
        self._tries: dict[str, int] = {}  # in this run
        self._attempts: dict[str, int] = {}  # in all
        self._values: dict[int, dict[int, float]] = {t: {} for t in self.rungs}  # at rungs, by trial
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        self._ends: dict[int, Observation] = {}  # of trials with rungs
        records = self.ledger.cells()
        trials = {record.identity: record.trial for record in records}
        for row in self.ledger.rungs():
            self._note(row, trials[row.cell])
        metrics = [one.metric for one in self.study.all_objectives]
        self._finals = {metric: self.ledger.final_values(metric) for metric in metrics}
        for record in records:
            if record.stage == self.stage and not record.retired:
                self._restore(record)

    @property
    def num_left(self) -> int:
        if self._room is None:
            self._room = self.has_room()
        return len(self._interrupted) + self.source.num_left if self._room else 0

    def next_cell(self) -> Cell | None:
        """Return the next cell to run; None when none is left or the budget is spent."""
        self._room = self.has_room()  # time has passed
        if not self._room:
            return None
        cell = self._interrupted.pop(0) if self._interrupted else self.source.next()
        if cell is None:
            return None
        self.ledger.plan([cell.record()])
        used = cell.resources
        self._attempts[cell.identity] = self.ledger.start(
            cell.identity, executor=used.runs_on, workers=used.workers, threads=used.threads
        )
        self._tries[cell.identity] = self._tries.get(cell.identity, 0) + 1
        self._room = None
        return cell

    def progressed(self, cell: Cell, t: int, metrics: dict[str, float]) -> Verdict | None:
        """Enter progress of a running cell; return a verdict at rungs, None elsewhere."""
        self.ledger.record_progress(cell.identity, t, metrics)
        if t not in self.rungs_of(cell):
            return None
        if (cell.identity, t) not in self._verdicts:
            value = metrics.get(self.study.objective.metric, math.nan)
            row = RungRow(cell=cell.identity, t=t, value=value, verdict=self._decide(cell.number, t, value))
            self.ledger.record_rung(row)
            self._note(row, cell.number)
        return self._verdicts[cell.identity, t]  # the first verdict stands, whoever asks again

    def finish(
        self,
        cell: Cell,
        reason: str = "",
        *,
        for_good: bool = False,
        excused: bool = False,
        is_blameless: bool = False,
    ) -> CellRecord | None:
        """Commit a cell that ended: its `result.json`, or the reason there is none.

        Returns None where the cell was lost and is tried again, up to max_attempts times in one run. A cell
        that ended `for_good` is never retried; an `excused` attempt does not count, for all of Ray was lost. A cell
        that `is_blameless` in its last attempt stays planned: Unavailable says what its worker could not use.
        """
        self._room = None
        result, reason = self._new_result_of(cell), reason or "ended without a result"
        self._tries[cell.identity] -= excused
        is_last = self._tries[cell.identity] >= cell.resources.max_attempts
        if result is None and not for_good and (is_blameless or not is_last):
            self.ledger.lose(cell.identity, reason)
            if is_last:
                raise Unavailable(reason)
            self._interrupted.append(cell)
            return None
        if result is None:
            self.ledger.fail(cell.identity, reason)
        has_scores = result is not None and self._record(result)
        if not cell.continues:  # the search it was part of is over
            failed = Observation("failed")
            seen = failed if result is None else self._judged(result.status, result.final_value)
            self._note_end(cell.number, seen)
            self.source.observe(cell, seen)
        record = self.ledger.cell(cell.identity)
        if result is not None and record.status == "complete" and has_scores:
            self.settled(record, result)
        return record

    def attempt_of(self, cell: Cell) -> int:
        return self._attempts[cell.identity]

    def rungs_of(self, cell: Cell) -> tuple[int, ...]:
        """Return the steps at which this cell waits for a verdict."""
        return () if cell.continues else self._rungs_of_trial(cell.number)

    def _rungs_of_trial(self, number: int) -> tuple[int, ...]:
        rule = self._rule
        return () if rule is None else rule.rungs_of_trial(self.rungs, self.study.search_seed, number)

    def _decide(self, trial: int, t: int, value: float) -> Verdict:
        """Return the rule's verdict on what the ledger holds by now."""
        study = self.study
        assert self._rule is not None, "rungs without early stopping"
        seed, direction = study.search_seed, study.objective.direction
        waiting = TrialAtRung(trial, t, value, self._values, self.rungs, seed, direction, self._ends)
        return self._rule.verdict(waiting)

    def _note(self, row: RungRow, trial: int) -> None:
        self._values.setdefault(row.t, {})[trial] = row.value
        self._verdicts[row.cell, row.t] = row.verdict

    def _note_end(self, trial: int, seen: Observation) -> None:
        if seen != RUNNING:
            self._ends[trial] = seen

    def _restore(self, record: CellRecord) -> None:
        """Restore a cell of the ledger: one without a result runs unless its file exists."""
        seen = RUNNING
        status = status_for_next_run(self.ledger.study_dir, record.identity, record.status)
        if status in FINISHED:
            seen = self._judged(status, lambda metric: self._finals[metric].get(record.identity, math.nan))
        elif (result := self._result_of(record.identity)) is not None:
            self._record(result)
            self.ledger.log("adopted", "result found on disk", record.identity)
            seen = self._judged(result.status, result.final_value)
        was_stopped = any(self._verdicts.get((record.identity, t)) == "stop" for t in self.rungs)
        # A trial that the confirmation has continued ended in the search where it was stopped.
        self._note_end(record.trial, Observation("pruned") if was_stopped else seen)
        cell = self.source.restore(record, seen)
        if cell is not None:
            self._interrupted.append(cell)

    def _record(self, result: Result) -> bool:
        """Enter a result with the scores that its own process made; return whether they are all there."""
        self._enter_verdicts(result)
        self.ledger.record_result(result)
        directory = cell_folder(self.ledger.study_dir, result.identity)
        if result.status == "complete":  # its worker may have ended between the two
            shutil.rmtree(directory / CHECKPOINT_FOLDER, ignore_errors=True)
        if (directory / f"{CHECKPOINT_FOLDER}.damaged").exists():
            self.ledger.log("damaged", "a checkpoint: set aside, trained again without it", result.identity)
        wanted = {(one.name, one.fingerprint) for one in self.evaluations}
        rows = written_rows(directory, result.identity, wanted)
        self.ledger.record_evaluations(rows)
        return {(row.evaluation, row.fingerprint) for row in rows} == wanted

    def _enter_verdicts(self, result: Result) -> None:
        """Enter the verdicts that a cell was given and a lost ledger had: it was stopped at its last rung, or none."""
        cell = self.ledger.cell(result.identity)
        for point in result.history:
            verdict = self._verdicts.get((cell.identity, point.t))
            if verdict == "stop":
                return  # the confirmation took it further, without verdicts
            if cell.stage == "search" and point.t in self._rungs_of_trial(cell.trial) and verdict is None:
                is_last = result.status == "stopped_early" and point is result.history[-1]
                value = point.metrics.get(self.study.objective.metric, math.nan)
                row = RungRow(
                    cell=cell.identity, t=point.t, value=value, verdict="stop" if is_last else "continue"
                )
                self.ledger.record_rung(row)
                self._note(row, cell.trial)

    def _new_result_of(self, cell: Cell) -> Result | None:
        """Return the last attempt's result, not the earlier one of a continued cell."""
        self.files.bring_result(cell.identity)
        result = self._result_of(cell.identity)
        return None if result is not None and cell.continues and result.status == "stopped_early" else result

    def _result_of(self, identity: str) -> Result | None:
        directory = cell_folder(self.ledger.study_dir, identity)
        if not (directory / FILE_NAME).exists():
            return None
        try:
            result = read_result(directory)
            if result.identity != identity:
                raise InputError(f"the result of another cell: {result.identity}", where=str(directory))
        except InputError as damage:
            # Moved away, or the loop would trip over it too.
            self.files.set_aside(identity, f"{FILE_NAME}.damaged")
            self.ledger.log("damaged", str(damage), identity)
            return None
        return result

    def _judged(self, status: str, value_of: Callable[[str], float]) -> Observation:
        return judged(status, [value_of(one.metric) for one in self.study.all_objectives])
