"""The queue of one stage: which cells are left to run, in order. Without Ray."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path

from rse_study.errors import InputError
from rse_study.evaluation.evaluations import Evaluation
from rse_study.on_ray.queue.cell import Cell, CellSource
from rse_study.on_ray.stored.files import StudyFiles
from rse_study.results.cell_state import status_for_next_run
from rse_study.results.evaluation_file import FILE_NAME as EVALUATIONS_FILE
from rse_study.results.evaluation_file import written_rows
from rse_study.results.ledger import Ledger
from rse_study.results.records import FINISHED, CellRecord, ConstraintRecord, RungRow, Stage, Verdict
from rse_study.results.result_file import FILE_NAME, Result, read_result
from rse_study.results.schema import MODEL_FOLDER, cell_folder
from rse_study.search.observation import RUNNING, Observation, judged
from rse_study.search.stopping import TrialAtRung
from rse_study.study.definition.config import Study

BESIDE_A_RESULT = (EVALUATIONS_FILE, MODEL_FOLDER, "checkpoint")
"""What a cell's folder holds, too, that another configuration must not take up."""


class CellQueue:
    """Gives cells and takes in how they go and end.

    The ledger has both before anybody else.

    Parameters
    ----------
    study : Study
        Its objective and early stopping decide verdicts.
    stage : Stage
        Whose cells these are.
    source : CellSource
        Where new cells come from.
    ledger : Ledger
        What has run already, and where everything is entered.
    files : StudyFiles
        Brings the results that workers wrote.
    rungs : tuple of int
        Steps at which cells wait for a verdict.
    evaluations : sequence of Evaluation
        What a cell's own process asks its model.
    has_room : callable
        Says whether the search's budget has room for one more cell.
    """

    def __init__(
        self,
        study: Study,
        stage: Stage,
        source: CellSource,
        ledger: Ledger,
        files: StudyFiles,
        rungs: tuple[int, ...] = (),
        evaluations: Sequence[Evaluation] = (),
        has_room: Callable[[], bool] = lambda: True,
    ) -> None:
        self._study, self._source, self._ledger, self._rungs = study, source, ledger, rungs
        self._files, self.evaluations = files, evaluations
        self._has_room = has_room
        self._room: bool | None = None  # as it is until another cell begins or ends
        self._interrupted: list[Cell] = []
        self._tries: dict[str, int] = {}  # in this run
        self._attempts: dict[str, int] = {}  # in all
        self._values: dict[int, dict[int, float]] = {t: {} for t in rungs}  # at rungs, by trial
        self._verdicts: dict[tuple[str, int], Verdict] = {}
        records = ledger.cells()
        trials = {record.identity: record.trial for record in records}
        for row in ledger.rungs():
            self._note(row, trials[row.cell])
        self._constraints = [ConstraintRecord(**one.model_dump()) for one in study.constraints]
        deciding = {one.metric for one in study.all_objectives} | {one.metric for one in study.constraints}
        self._finals = {metric: ledger.final_values(metric) for metric in deciding}
        for record in records:
            if record.stage == stage and not record.retired:
                self._restore(record)

    @property
    def num_left(self) -> int:
        """Cells still to be given, as far as is known now."""
        if self._room is None:
            self._room = self._has_room()
        return len(self._interrupted) + self._source.num_left if self._room else 0

    def next_cell(self) -> Cell | None:
        """The next cell to run; None when there is none left, or no room for one."""
        self._room = self._has_room()  # time has passed
        if not self._room:
            return None
        cell = self._interrupted.pop(0) if self._interrupted else self._source.next()
        if cell is None:
            return None
        self._ledger.plan([cell.record()])
        used = cell.resources
        self._attempts[cell.identity] = self._ledger.start(
            cell.identity, executor=used.runs_on, workers=used.workers, threads=used.threads
        )
        self._tries[cell.identity] = self._tries.get(cell.identity, 0) + 1
        self._room = None
        return cell

    def progressed(self, cell: Cell, t: int, metrics: dict[str, float]) -> Verdict | None:
        """Enter what a running cell reported; at a rung, decide whether it goes on.

        Parameters
        ----------
        cell : Cell
            Which one.
        t : int
            Optimiser steps it has done.
        metrics : dict
            What was measured at `t`, by name.

        Returns
        -------
        Verdict or None
            None where `t` is no rung.
        """
        self._ledger.record_progress(cell.identity, t, metrics)
        if t not in self.rungs_of(cell):
            return None
        if (cell.identity, t) not in self._verdicts:
            value = metrics.get(self._study.objective.metric, math.nan)
            row = RungRow(cell=cell.identity, t=t, value=value, verdict=self._decide(cell.number, t, value))
            self._ledger.record_rung(row)
            self._note(row, cell.number)
        return self._verdicts[cell.identity, t]  # the first verdict stands, whoever asks again

    def finish(
        self, cell: Cell, reason: str = "", *, for_good: bool = False, excused: bool = False
    ) -> CellRecord | None:
        """Commit a cell that ended: its `result.json`, or else the reason there is none.

        Parameters
        ----------
        cell : Cell
            Which one.
        reason : str
            Why there is no result, as far as anybody could say.
        for_good : bool
            Whether it would end in the same way again.
        excused : bool
            Whether the attempt does not count: all of Ray was lost, and the cell with it.

        Returns
        -------
        CellRecord or None
            None where its process was lost and it is tried again: up to max_attempts times in one run.
        """
        self._room = None
        result = self._new_result_of(cell)
        self._tries[cell.identity] -= excused
        if result is None and not for_good and self._tries[cell.identity] < cell.resources.max_attempts:
            self._ledger.lose(cell.identity, reason or "ended without a result")
            self._interrupted.append(cell)
            return None
        if result is None:
            self._ledger.fail(cell.identity, reason or "ended without a result")
        else:
            self._record(result)
        if not cell.continues:  # the search it was part of is over
            seen = (
                Observation("failed") if result is None else self._judged(result.status, result.final_value)
            )
            self._source.observe(cell, seen)
        return self._ledger.cell(cell.identity)

    def attempt_of(self, cell: Cell) -> int:
        """The number of the attempt under way."""
        return self._attempts[cell.identity]

    def rungs_of(self, cell: Cell) -> tuple[int, ...]:
        """Steps at which this cell waits for a verdict.

        None where it is confirmed, never stopped, or a further seed of its trial.
        """
        rule, is_first = self._study.early_stopping, cell.seed == self._study.seeds[0]
        if rule is None or cell.continues or cell.is_never_stopped or not is_first:
            return ()
        return rule.rungs_of_trial(self._rungs, self._study.search_seed, cell.number)

    def _decide(self, trial: int, t: int, value: float) -> Verdict:
        """The rule's own verdict, which the ledger keeps of a trial that is let run on, too."""
        study = self._study
        assert study.early_stopping is not None, "rungs without early stopping"
        waiting = TrialAtRung(
            trial, t, value, self._values, self._rungs, study.search_seed, study.objective.direction
        )
        return study.early_stopping.verdict(waiting)

    def _note(self, row: RungRow, trial: int) -> None:
        self._values.setdefault(row.t, {})[trial] = row.value
        rule, seed = self._study.early_stopping, self._study.search_seed
        said = row.verdict if rule is None else rule.effective(seed, trial, row.value, row.verdict)
        self._verdicts[row.cell, row.t] = said

    def _restore(self, record: CellRecord) -> None:
        """Enter a cell the ledger holds. One without a result runs (again), unless its result already lies there."""
        seen = RUNNING
        status = status_for_next_run(self._ledger.study_dir, record.identity, record.status)
        if status in FINISHED:
            seen = self._judged(status, lambda metric: self._finals[metric].get(record.identity, math.nan))
        elif (result := self._result_of(record.identity)) is not None:
            self._record(result)
            self._ledger.log("adopted", "result found on disk", record.identity)
            seen = self._judged(result.status, result.final_value)
        was_stopped = any(self._verdicts.get((record.identity, t)) == "stop" for t in self._rungs)
        cell = self._source.restore(record, replace(seen, was_stopped=was_stopped) if was_stopped else seen)
        if cell is not None:
            self._interrupted.append(cell)

    def _record(self, result: Result) -> None:
        """Commit a result, and the scores that lie beside it."""
        self._ledger.record_result(result)
        directory = cell_folder(self._ledger.study_dir, result.identity)
        wanted = {(one.name, one.fingerprint) for one in self.evaluations}
        self._ledger.record_evaluations(written_rows(directory, result.identity, wanted))

    def _new_result_of(self, cell: Cell) -> Result | None:
        """The result of the attempt that just ended; a continued cell's old one does not count."""
        self._files.bring_result(cell.identity)
        result = self._result_of(cell.identity)
        return None if result is not None and cell.continues and result.status == "stopped_early" else result

    def _result_of(self, identity: str) -> Result | None:
        directory = cell_folder(self._ledger.study_dir, identity)
        if not (directory / FILE_NAME).exists():
            return None
        try:
            result = read_result(directory)
        except InputError as damage:
            # Moved away, or the loop would trip over it too.
            self._files.set_aside(identity, f"{FILE_NAME}.damaged")
            self._ledger.log("damaged", str(damage), identity)
            return None
        if result.identity != identity:
            self._set_aside_another(identity, result.identity)
            return None
        return result

    def _set_aside_another(self, identity: str, other: str) -> None:
        """Move away what another configuration left in a cell's folder."""
        directory = cell_folder(self._ledger.study_dir, identity)
        self._files.set_aside(identity, free_name(directory / f"{FILE_NAME}.other").name)
        for path in (directory / name for name in BESIDE_A_RESULT):
            if path.exists():
                path.replace(free_name(path.with_name(f"{path.name}.other")))
        self._ledger.log("other", f"the result of another configuration: {other}", identity)

    def _judged(self, status: str, value_of: Callable[[str], float]) -> Observation:
        values = [value_of(one.metric) for one in self._study.all_objectives]
        return judged(status, values, [one.violation(value_of(one.metric)) for one in self._constraints])


def free_name(path: Path) -> Path:
    """The path, or the same with the first number that nobody has taken."""
    numbered = (path.with_name(f"{path.name}-{number}") for number in count(2))
    return path if not path.exists() else next(one for one in numbered if not one.exists())
