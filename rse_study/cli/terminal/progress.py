"""Progress of a running study, and the time that it will still run."""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from statistics import median
from typing import Any

from rich.console import Console
from rich.progress import Task

from analysis.formats import show_brief, show_duration
from rse_study.cli.terminal.activity_bars import ActivityBars
from rse_study.cli.terminal.screen import SHOWN, describe
from rse_study.results.reader import HAS_RESULT
from rse_study.results.records import AttemptRecord, CellRecord
from rse_study.results.row_names import name_of
from rse_study.search.state import SearchState


@dataclass(frozen=True)
class Pace:
    """Speed of a study; None where no cell has ended yet."""

    median_s: float | None
    """seconds of a cell that ended with a result"""
    cells_at_a_time: int
    eta_s: float | None
    """seconds of running that are left"""


def pace_of(search: SearchState, attempts: Sequence[AttemptRecord], running: Mapping[str, float]) -> Pace:
    """Estimate how much longer a study will run.

    The missing cells of each stage are multiplied by the median time of the cells that ended there, or, before any
    has, of all that were not stopped early; the sum is divided by the number of cells that run at a time. `running`
    maps each running cell to the share of it that is done.
    """
    at_a_time = len(running) or most_at_a_time(attempts)
    durations = defaultdict(list)
    for cell in search.cells:
        if cell.status in HAS_RESULT and cell.duration_s > 0:
            durations[cell.stage].append(cell.duration_s)
    if not durations:
        return Pace(None, at_a_time, None)
    of_all = median(seconds for of_stage in durations.values() for seconds in of_stage)
    whole = [cell.duration_s for cell in search.cells if cell.status == "complete" and cell.duration_s > 0]
    elsewhere = median(whole) if whole else of_all
    medians: dict[str, float] = {stage: median(of_stage) for stage, of_stage in durations.items()}
    missing = missing_by_stage(search).items()
    left = sum(number * medians.get(stage, elsewhere) for stage, number in missing)
    stages = {cell.identity: cell.stage for cell in search.cells}
    going = [(1 - share) * medians.get(stages[name], elsewhere) for name, share in running.items()]
    return Pace(of_all, at_a_time, max([(left + sum(going)) / at_a_time, *going]))


def missing_by_stage(search: SearchState) -> dict[str, int]:
    """Count cells still to be started, by stage: the most possible."""
    begun = Counter(cell.stage for cell in search.cells if cell.status != "planned")
    return {stage: max(0, most - begun[stage]) for stage, most in search.most_cells.items()}


def most_at_a_time(attempts: Sequence[AttemptRecord]) -> int:
    """Return the most attempts that ever ran at the same time; 1 where none has."""
    ended = [attempt for attempt in attempts if attempt.ended]
    changes = [(one.started, 1) for one in ended] + [(one.ended, -1) for one in ended]
    # At the same second an end comes before a start.
    return max([1, *accumulate(change for _, change in sorted(changes))])


SHORT_SECONDS = 60.0  # nobody plans by less
NUM_RECOUNTS = 100  # in a study: each reads all of its cells


class ProgressBoard(ActivityBars):
    """A `StudyCallback` of `on_ray` that shows what happens in a study.

    `read_planned` is called after each hundredth part of the cells: budgets, paths and rows
    come to need fewer.
    Where trials run several seeds (`shows_seeds`), the number of cells is a bound, and their names have seeds.
    """

    def __init__(
        self,
        num_planned: int,
        num_ended: int = 0,
        console: Console | None = None,
        objective: str = "dev",
        read_planned: Callable[[], int] = int,
        *,
        shows_seeds: bool = False,
    ) -> None:
        super().__init__(console)
        self._deciding = tuple(dict.fromkeys(("dev", objective)))
        self._num_planned, self._num_ended, self._shows_seeds = num_planned, num_ended, shows_seeds
        self._read_planned = read_planned
        self._running: dict[str, Task] = {}  # by identity
        self._last: dict[str, str] = {}
        self._num_before = num_ended
        self._paced_from = 0.0  # the first point of a cell: what starts before it is no pace
        self._all: Task | None = None

    def cells_found(self, cells: Sequence[Any]) -> None:
        """Count cells that ended earlier; they are no part of the pace."""
        self._num_ended += len(cells)
        self._num_before += len(cells)

    def started(self, cell: Any) -> None:
        self._show_all()
        self._row_of(cell)
        if not self.is_drawn:
            self._say(cell, "goes on" if cell.continues else "started", *_values(cell))

    def progressed(self, cell: Any, t: int, num_steps: int, metrics: Mapping[str, float]) -> None:
        followed = dict.fromkeys((*SHOWN, *self._deciding))
        step, values = f"step {t}/{num_steps}", describe(metrics, tuple(followed))
        if "dev" in metrics:
            self._last[cell.identity] = describe(metrics, self._deciding)
        self._paced_from = self._paced_from or time.monotonic()
        text = f"{step}  {values}".rstrip()
        self.bars.update(self._row_of(cell).id, completed=t, total=max(num_steps, 1), text=text)
        self._show_all()
        if not self.is_drawn and (t == 0 or "dev" in metrics):
            self._say(cell, step, values)

    def ended(self, cell: Any, record: CellRecord) -> None:
        self._num_ended += not cell.continues
        if self._num_ended % max(1, self._num_planned // NUM_RECOUNTS) == 0:
            self._num_planned = self._read_planned() or self._num_planned
        self._leave([cell])
        seconds = self._seconds_left()
        stopped = record.status == "stopped_early"
        verdict = record.status.replace("_", " ")
        reason = record.reason.removeprefix("stopped ") if stopped else record.reason
        self._say(
            cell,
            f"{verdict}{' ' if stopped else ': '}{reason}" if reason else verdict,
            self._last.pop(cell.identity, ""),
            *(_values(cell) if self.is_drawn else ()),  # elsewhere a line said them at its start
            show_duration(record.duration_s),
            f"[{self._ended_of_planned()}]",
            f"about {show_duration(seconds)} left" if seconds >= SHORT_SECONDS else "",
        )

    def lost(self, cell: Any, reason: str) -> None:
        self._leave([cell])
        self._say(cell, f"lost: {reason}; tried again")

    def node_lost(self, node: str, cells: Sequence[Any]) -> None:
        self._leave(cells)
        number = len(cells)
        again = f"; {number} cell{'s are' if number > 1 else ' is'} tried again" if number else ""
        self.message(f"node {node} was lost{again}")

    def _say(self, cell: Any, *parts: str) -> None:
        self.message(f"{self._name(cell)}: {'  '.join(filter(None, parts))}")

    def _row_of(self, cell: Any) -> Task:
        if cell.identity not in self._running:
            self._running[cell.identity] = self._begin(self._name(cell), total=None)
        return self._running[cell.identity]

    def _leave(self, cells: Iterable[Any]) -> None:
        for cell in cells:
            if row := self._running.pop(cell.identity, None):
                self.bars.remove_task(row.id)
        self._show_all()

    def _show_all(self) -> None:
        self._all = self._all or self._begin("all cells", text="")
        ended, planned, text = self._num_ended, self._num_planned, ", ".join(self.summary())
        self.bars.update(self._all.id, completed=ended, total=planned, text=text)

    def _name(self, cell: Any) -> str:
        name = cell.row or cell.label
        return name_of(cell.stage, cell.number, cell.seed, name, shows_seeds=self._shows_seeds)

    def summary(self) -> list[str]:
        """Return `12 of 40 cells ended`, `4 running`, `about 3 min left at this pace`."""
        parts = [f"{self._ended_of_planned()} cells ended", f"{len(self._running)} running"]
        if seconds := self._seconds_left():
            parts.append(f"about {show_duration(seconds)} left at this pace")
        return parts

    def _ended_of_planned(self) -> str:
        """Return `12 of 40`; where trials run several seeds, `12 of at most 40`."""
        return f"{self._num_ended} of {'at most ' * self._shows_seeds}{self._num_planned}"

    def _seconds_left(self) -> float:
        """Estimate the time left at the pace of this run, in which running cells count by their share; 0 at first."""
        num_here, num_left = self._num_ended - self._num_before, self._num_planned - self._num_ended
        if num_here <= 0 or num_left <= 0 or not self._paced_from:
            return 0.0
        under_way = sum(row.percentage / 100 for row in self._running.values())
        seconds = time.monotonic() - self._paced_from
        return seconds * max(num_left - under_way, 0.0) / (num_here + under_way)


def _values(cell: Any) -> Iterator[str]:
    """Yield the settings of a cell; a grid's cells have them in their names already."""
    if cell.stage != "grid" or cell.label:
        yield from (f"{name} {show_brief(value)}" for name, value in cell.proposal.items())
