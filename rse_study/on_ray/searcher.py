"""The agenda as Tune sees it: a searcher whose proposals are whole cells."""

import time
from collections.abc import Iterator
from threading import Event
from typing import Any

from ray.tune.search import Searcher

from rse_study.on_ray.callbacks import StudyCallback
from rse_study.on_ray.cell import Cell
from rse_study.on_ray.cell_queue import CellQueue
from rse_study.on_ray.coordinator import Coordinator
from rse_study.on_ray.payload import Packer

PREFIX = "metrics/"
START_SECONDS = 300.0  # a process that starts on a busy node has this much longer before its first word


class CellSearcher(Searcher):
    """Asks the agenda for cells and brings their progress and ends back. Nothing of it is pickled or restored."""

    def __init__(
        self,
        agenda: CellQueue,
        pack: Packer,
        desk: Coordinator,
        watcher: StudyCallback,
        max_concurrent: int,
        closing: Event,
    ) -> None:
        super().__init__()
        self._agenda, self._pack, self._desk, self._watcher = agenda, pack, desk, watcher
        self._max_concurrent, self._closing = max_concurrent, closing
        self._running: dict[str, Cell] = {}
        # Monotonic time of a running trial's last word; ahead of now until the first.
        self._heard: dict[str, float] = {}
        self._ends: dict[str, dict[str, Any]] = {}  # what trials said last of all
        self._ended_by_us: dict[str, str] = {}

    def suggest(self, trial_id: str) -> Any:
        """The configuration of the next cell; None while as many run as fit, or while one may be tried again."""
        if len(self._running) >= self._max_concurrent:
            return None
        cell = None if self._closing.is_set() else self._agenda.next_cell()
        if cell is None:
            return None if self._running else Searcher.FINISHED
        self._running[trial_id], self._heard[trial_id] = cell, time.monotonic() + START_SECONDS
        self._desk.expect(cell.identity)
        self._watcher.started(cell)
        return self._pack(cell, self._agenda.attempt_of(cell), self._agenda.rungs_of(cell))

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Enter progress; at a rung, lay the verdict on the desk."""
        self._heard[trial_id] = time.monotonic()
        if result.get("final"):
            self._ends[trial_id] = result
            return
        # Tune flattens what it passes on: metrics/loss, metrics/dev, ...
        found = {name: value for name, value in result.items() if name.startswith(PREFIX)}
        metrics = {name.removeprefix(PREFIX): float(value) for name, value in found.items()}
        cell, t = self._running[trial_id], int(result["t"])
        verdict = self._agenda.progressed(cell, t, metrics)
        if verdict is not None:
            self._desk.decide(cell.identity, t, verdict)
        self._watcher.progressed(cell, t, int(result["num_steps"]), metrics)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Commit the cell: with its result, or with the reason it has none."""
        cell, said = self._running.pop(trial_id), self._ends.pop(trial_id, result or {})
        del self._heard[trial_id]
        gone = "its process ended before it could say why" if error else ""
        reason = self._ended_by_us.pop(trial_id, "") or str(said.get("reason", "")) or gone
        record = self._agenda.finish(cell, reason, for_good=bool(said.get("for_good")))
        if record is None:
            self._watcher.lost(cell, reason)
        else:
            self._watcher.ended(cell, record)

    def silent(self) -> Iterator[tuple[str, Cell]]:
        """Trials that have not said a word for longer than their cell allows."""
        now = time.monotonic()
        for trial_id, cell in self._running.items():
            if now - self._heard[trial_id] > cell.resources.max_silence_s:
                yield trial_id, cell

    def give_up(self, trial_id: str, reason: str) -> None:
        """The trial is being ended from here; its clock starts again, in case it does not notice."""
        self._ended_by_us[trial_id] = reason
        self._heard[trial_id] = time.monotonic()

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Nothing: the ledger is the state."""

    def save(self, checkpoint_path: str) -> None:
        """Nothing: the ledger is the state."""

    def restore(self, checkpoint_path: str) -> None:
        """Nothing: a study is rebuilt from its ledger."""

    def __getstate__(self) -> dict[str, Any]:
        return {}  # Tune pickles its tuner; the ledger and the display stay out of it
