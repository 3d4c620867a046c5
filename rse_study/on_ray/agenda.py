"""What is left to run, in order: the driver's side of a search, without Ray."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rse_study.errors import InputError
from rse_study.on_ray.proposer import Outcome, Proposer
from rse_study.results.ledger import Ledger
from rse_study.results.records import FINISHED, CellRecord
from rse_study.results.result_file import FILE_NAME, Result, read_result
from rse_study.study.validation import Checked
from rse_study.training.trial import Trial

MAX_DRAWS = 32
OUTCOMES: dict[str, Outcome] = {"complete": "complete", "failed": "failed", "stopped_early": "pruned"}


@dataclass(frozen=True)
class Cell:
    """A trial x seed about to run."""

    number: int
    seed: int
    identity: str
    trial: Trial
    proposal: Mapping[str, Any]


class Agenda:
    """Hands out cells and takes in how they ended; the ledger knows both before anybody else does."""

    def __init__(
        self,
        checked: Checked,
        ledger: Ledger,
        proposer: Proposer,
        cells: Path,
        identify: Callable[[Trial, int], str],
    ) -> None:
        self._study, self._space, self._ledger = checked.study, checked.space, ledger
        self._proposer, self._cells, self._identify = proposer, cells, identify
        self._known: set[str] = set()
        self._interrupted: list[Cell] = []
        self._next_number = 0
        for record in ledger.cells():
            self._replay(record)

    @property
    def num_left(self) -> int:
        """Cells still to be handed out."""
        return len(self._interrupted) + max(0, self._study.num_trials - self._next_number)

    def next_cell(self) -> Cell | None:
        """The next cell to run; None when there is none left."""
        if self._interrupted:
            return self._start(self._interrupted.pop(0))
        if self._next_number >= self._study.num_trials:
            return None
        cell = self._propose(self._next_number)
        self._next_number += 1
        self._known.add(cell.identity)
        self._ledger.plan([_record(cell)])
        return self._start(cell)

    def finish(self, cell: Cell, reason: str = "") -> CellRecord:
        """Commit a cell that ended: its `result.json`, or else the reason there is none."""
        result = self._result_of(cell.identity)
        if result is None:
            self._ledger.fail(cell.identity, reason or "ended without a result")
        else:
            self._ledger.record_result(result)
        outcome, value = self._judge(result)
        self._proposer.tell(cell.number, outcome, value)
        return next(record for record in self._ledger.cells() if record.identity == cell.identity)

    def directory(self, identity: str) -> Path:
        """Where a cell keeps its checkpoint, its model and its result."""
        return self._cells / identity[:16]

    def _start(self, cell: Cell) -> Cell:
        self._ledger.start(cell.identity)
        return cell

    def _propose(self, number: int) -> Cell:
        first = self._space.base_point
        if number == 0 and first is not None:
            self._proposer.add(0, first)
            return self._cell(0, first)
        for draw in range(MAX_DRAWS):
            cell = self._cell(number, self._proposer.ask(number, draw))
            if cell.identity not in self._known:
                return cell
            self._proposer.tell(number, "failed")  # the same identity never runs twice: draw again
        what, rule = (
            f"trial {number}: {MAX_DRAWS} draws gave known trials only",
            "the same identity never runs twice",
        )
        raise InputError(
            what, where=self._study.name, rule=rule, remedy="Lower num_trials, or widen the space"
        )

    def _cell(self, number: int, proposal: Mapping[str, Any]) -> Cell:
        trial, seed = self._space.apply(proposal), self._study.seeds[0]
        return Cell(number, seed, self._identify(trial, seed), trial, dict(proposal))

    def _replay(self, record: CellRecord) -> None:
        """Enter a cell the ledger holds; one that was running is run again, unless its result already lies there."""
        self._next_number = max(self._next_number, record.trial + 1)
        self._known.add(record.identity)
        result = None
        if record.status not in FINISHED:
            result = self._result_of(record.identity)
            if result is None:
                in_order = {axis.name: record.proposal[axis.name] for axis in self._space.axes}
                self._interrupted.append(self._cell(record.trial, in_order))
                self._proposer.add(record.trial, record.proposal)
                return
            self._ledger.record_result(result)
            self._ledger.log("adopted", "result found on disk", record.identity)
            outcome, value = self._judge(result)
        else:
            outcome, value = OUTCOMES[record.status], self._last_value(record.identity)
        self._proposer.add(record.trial, record.proposal, outcome, value)

    def _result_of(self, identity: str) -> Result | None:
        directory = self.directory(identity)
        if not (directory / FILE_NAME).exists():
            return None
        try:
            result = read_result(directory)
        except InputError as damage:
            self._ledger.log("damaged", str(damage), identity)
            return None
        return result if result.identity == identity else None

    def _judge(self, result: Result | None) -> tuple[Outcome, float | None]:
        """What the sampler is told: the value at the last step, never the best so far."""
        if result is None:
            return "failed", None
        value = result.final.get(self._study.objective.metric, math.nan)
        outcome = OUTCOMES[result.status]
        return ("failed", None) if outcome == "complete" and not math.isfinite(value) else (outcome, value)

    def _last_value(self, identity: str) -> float | None:
        values = [
            row.value for row in self._ledger.history(identity) if row.name == self._study.objective.metric
        ]
        return values[-1] if values else None


def _record(cell: Cell) -> CellRecord:
    return CellRecord(
        identity=cell.identity,
        trial=cell.number,
        seed=cell.seed,
        config=cell.trial.model_dump(mode="json"),
        proposal=dict(cell.proposal),
    )
