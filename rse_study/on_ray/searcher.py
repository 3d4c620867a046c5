"""The cell queue as Tune sees it: a searcher that proposes whole cells."""

import time
from collections.abc import Callable, Iterator
from threading import Event
from typing import Any, Protocol, runtime_checkable

from ray.tune.search import Searcher

from rse_study.errors import InputError, Unavailable
from rse_study.on_ray.nodes.elastic import Losses
from rse_study.on_ray.queue import Cell, StudyCallback
from rse_study.on_ray.queue.cell_queue import CellQueue
from rse_study.on_ray.stored import Payloads
from rse_study.on_ray.workers.coordinator import SCORED, Coordinator
from rse_study.results.files.schema import naming_failures_of_disk

PREFIX = "metrics/"
ENDING_SECONDS = 30.0  # that workers have to end after the last cell
START_SECONDS = 300.0  # a process that starts on a busy node has this much longer before its first report


@runtime_checkable
class Closing(Protocol):
    """Whether a run goes on."""

    closing: Event
    """set once no further cell may start"""

    def give_up(self, failure: InputError | Unavailable) -> None:
        """Start no further cell: something the run needs is gone for good."""

    def check(self) -> None:
        """Raise where nothing can be started."""


class CellSearcher(Searcher):
    """Gives Tune the cells of a queue, and the queue their progress and ends."""

    def __init__(
        self,
        queue: CellQueue,
        payloads: Payloads,
        coordinator: Coordinator,
        callback: StudyCallback,
        concurrency: Callable[[], int],
        losses: Losses,
        runtime: Closing,
    ) -> None:
        super().__init__()
        self._queue, self._payloads = queue, payloads
        self._coordinator, self._callback = coordinator, callback
        self._concurrency, self._losses, self._runtime = concurrency, losses, runtime
        self.while_idle: Callable[[], None] = lambda: None
        """is called while no cell runs: Tune then asks for one for up to ten minutes, and calls nothing else"""
        self._running: dict[str, Cell] = {}
        # Monotonic time of a running trial's last report; ahead of now until the first.
        self._last_report: dict[str, float] = {}
        self._ends: dict[str, dict[str, Any]] = {}  # final reports, by trial
        self._ended_by_us: dict[str, str] = {}
        self._ending_since: float | None = None

    def suggest(self, trial_id: str) -> Any:
        """Return the next cell as a configuration, None to be asked again, or FINISHED."""
        if not self._running:
            self.while_idle()
        # Before room is asked for: where the last node has gone there is none, and the run would never end.
        has_cells = not self._runtime.closing.is_set() and self._queue.num_left > 0
        self._coordinator.keep_groups(has_cells or self._any_starts())
        if not has_cells:
            is_waiting = self._running or self._losses.num_open or self._groups_stay()
            return None if is_waiting else Searcher.FINISHED
        if len(self._running) >= self._concurrency() or self._losses.num_open:
            return None
        self._runtime.check()  # what starts a trial never returns where Ray's head is gone
        return self._start(trial_id) or (None if self._running else Searcher.FINISHED)

    def _start(self, trial_id: str) -> dict[str, Any] | None:
        """Start the next cell, with an attempt in the ledger; None if none can start."""
        try:
            with naming_failures_of_disk():
                cell = self._queue.next_cell()
                if cell is None:
                    return None
                attempt, rungs = self._queue.attempt_of(cell), self._queue.rungs_of(cell)
                payload = self._payloads.of_cell(cell, attempt, rungs)
        except Unavailable as gone:
            self._runtime.give_up(gone)
            return None
        self._ending_since = None
        self._running[trial_id] = cell
        self._last_report[trial_id] = time.monotonic() + START_SECONDS
        self._coordinator.expect(cell.identity)
        self._callback.started(cell)
        return cell.shown(self._queue.axes) | payload.as_config()

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Enter progress; at a rung, pass the verdict to the coordinator."""
        self._last_report[trial_id] = time.monotonic()
        if result.get("final"):
            self._ends[trial_id] = result
        if result.get("final") or SCORED in result:
            return
        # Tune flattens what it passes on: metrics/loss, metrics/dev, ...
        flat = {name: value for name, value in result.items() if name.startswith(PREFIX)}
        metrics = {name.removeprefix(PREFIX): float(value) for name, value in flat.items()}
        cell, t = self._running[trial_id], int(result["t"])
        try:
            verdict = self._queue.progressed(cell, t, metrics)
        except (InputError, Unavailable) as error:
            self._runtime.give_up(error)  # a rule, or the disk; raised here it would be the trial's own
            return
        if verdict is not None:
            self._coordinator.decide(cell.identity, t, verdict)
        self._callback.progressed(cell, t, int(result["num_steps"]), metrics)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Commit the cell: with its result, or the reason there is none."""
        cell, last = self._running.pop(trial_id), self._ends.pop(trial_id, result or {})
        del self._last_report[trial_id]
        gone = "its process ended before it could say why" if error else ""
        reason = self._ended_by_us.pop(trial_id, "") or str(last.get("reason", "")) or gone
        try:
            with naming_failures_of_disk():
                said = {name: bool(last.get(name)) for name in ("for_good", "is_blameless")}
                record = self._queue.finish(cell, reason, **said)
        except Unavailable as gone:  # its result may lie there: the next run looks
            self._runtime.give_up(gone)
            return
        if record is None:
            self._losses.add(cell, reason)
        else:
            self._callback.ended(cell, record)

    def _any_starts(self) -> bool:
        """Whether a cell is on its way to workers that wait for it."""
        now = time.monotonic()
        return any(last > now for last in self._last_report.values())

    def _groups_stay(self) -> bool:
        """Whether workers are still ending: to end Ray now would leak what they hold."""
        if self._ending_since is None:
            self._ending_since = time.monotonic()
        is_late = time.monotonic() - self._ending_since > ENDING_SECONDS
        return not is_late and self._coordinator.num_groups() > 0

    @property
    def num_running(self) -> int:
        return len(self._running)

    @property
    def num_wanted(self) -> int:
        """Number of cells that would run now if all had room."""
        return len(self._running) + self._queue.num_left

    def abandon(self, reason: str) -> int:
        """Enter all running cells as lost, without blame; return how many are retried."""
        cells = list(self._running.values())
        self._running.clear()
        num_lost = 0
        for cell in cells:
            try:
                record = self._queue.finish(cell, reason, excused=True)
            except Unavailable as gone:  # its result may lie there: the next run looks
                self._runtime.give_up(gone)
                break
            if record is None:
                num_lost += 1
            else:  # its result lay there already
                self._callback.ended(cell, record)
        return num_lost

    def silent(self) -> Iterator[tuple[str, Cell]]:
        """Yield trials that were silent for longer than their cell allows."""
        now = time.monotonic()
        for trial_id, cell in self._running.items():
            if now - self._last_report[trial_id] > cell.resources.max_silence_s:
                yield trial_id, cell

    def give_up(self, trial_id: str, reason: str) -> None:
        """Note why this process ends the trial; its clock starts again."""
        self._ended_by_us[trial_id] = reason
        self._last_report[trial_id] = time.monotonic()

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Do nothing: the ledger is the state."""

    def save(self, checkpoint_path: str) -> None:
        """Do nothing: the ledger is the state."""

    def restore(self, checkpoint_path: str) -> None:
        """Do nothing: a study is rebuilt from its ledger."""

    def __getstate__(self) -> dict[str, Any]:
        return {}  # Tune pickles its tuner; the ledger and the display stay out of it
