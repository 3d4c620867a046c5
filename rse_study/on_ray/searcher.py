"""The agenda as Tune sees it: a searcher whose proposals are whole cells."""

from collections.abc import Callable
from typing import Any, Protocol, runtime_checkable

from ray.tune.search import Searcher

from rse_study.on_ray.agenda import Agenda, Cell
from rse_study.results.records import CellRecord

PREFIX = "metrics/"


@runtime_checkable
class Watcher(Protocol):
    """Who is told what happens, in the driver: a progress display, or nobody."""

    def started(self, cell: Cell) -> None:
        """A cell runs."""

    def progressed(self, cell: Cell, t: int, num_steps: int, metrics: dict[str, float]) -> None:
        """A cell reported."""

    def ended(self, cell: Cell, record: CellRecord) -> None:
        """A cell ended; `record` says how."""


class CellSearcher(Searcher):
    """Asks the agenda for cells and brings their ends back. Nothing of it is ever pickled or restored."""

    def __init__(
        self, agenda: Agenda, pack: Callable[[Cell], dict[str, Any]], watcher: Watcher, max_concurrent: int
    ) -> None:
        super().__init__()
        self._agenda, self._pack, self._watcher, self._max_concurrent = agenda, pack, watcher, max_concurrent
        self._running: dict[str, Cell] = {}

    def suggest(self, trial_id: str) -> Any:
        """The configuration of the next cell; None while as many run as fit."""
        if len(self._running) >= self._max_concurrent:
            return None
        cell = self._agenda.next_cell()
        if cell is None:
            return Searcher.FINISHED
        self._running[trial_id] = cell
        self._watcher.started(cell)
        return self._pack(cell)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Pass progress on."""
        if not result.get("final"):
            # Tune flattens what it passes on: metrics/loss, metrics/dev, ...
            found = {name: value for name, value in result.items() if name.startswith(PREFIX)}
            metrics = {name.removeprefix(PREFIX): float(value) for name, value in found.items()}
            self._watcher.progressed(self._running[trial_id], result["t"], result["num_steps"], metrics)

    def on_trial_complete(
        self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False
    ) -> None:
        """Commit the cell: with its result, or with the reason it has none."""
        cell = self._running.pop(trial_id)
        reason = (
            "the trial's process ended before it could say why"
            if error
            else str((result or {}).get("reason", ""))
        )
        self._watcher.ended(cell, self._agenda.finish(cell, reason))

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """Nothing: the ledger is the state."""

    def save(self, checkpoint_path: str) -> None:
        """Nothing: the ledger is the state."""

    def restore(self, checkpoint_path: str) -> None:
        """Nothing: a study is rebuilt from its ledger."""

    def __getstate__(self) -> dict[str, Any]:
        return {}  # Tune pickles its tuner; the ledger and the display stay out of it
