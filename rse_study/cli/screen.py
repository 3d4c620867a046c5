"""Progress on a screen: rich on a terminal, plain lines elsewhere."""

import time
from collections.abc import Mapping
from types import TracebackType
from typing import Any

import pandas as pd
from rich.console import Console
from rich.live import Live
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

SHOWN = ("loss", "dev")
LINE_SECONDS = 10.0  # between two plain lines of one run


def announce(text: str) -> None:
    """One line."""
    print(text, flush=True)


def describe(metrics: Mapping[str, float]) -> str:
    """The few metrics a reader follows."""
    return "  ".join(f"{name} {metrics[name]:.4g}" for name in SHOWN if name in metrics)


class Bar:
    """Progress of one run."""

    def __init__(self, title: str, console: Console | None = None) -> None:
        self._title, self._console = title, console or Console()
        self._rich = _bars(self._console) if self._console.is_terminal else None
        self._task = self._rich.add_task(title, total=None, seen="") if self._rich else None
        self._said = 0.0

    def __enter__(self) -> "Bar":
        if self._rich:
            self._rich.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._rich:
            self._rich.stop()

    def show(self, t: int, num_steps: int, metrics: Mapping[str, float]) -> None:
        """Step `t` is done."""
        if self._rich and self._task is not None:
            self._rich.update(self._task, completed=t, total=num_steps, seen=describe(metrics))
        elif t in (0, num_steps) or "dev" in metrics or time.monotonic() - self._said >= LINE_SECONDS:
            announce(f"{self._title}: step {t}/{num_steps}  {describe(metrics)}")
            self._said = time.monotonic()


class Board:
    """Progress of a study: one row a running trial, one line an ended one. A `Watcher` of on_ray."""

    def __init__(self, num_trials: int, console: Console | None = None) -> None:
        self._console = console or Console()
        self._num_trials = num_trials
        self._running: dict[int, str] = {}
        self._live = Live(console=self._console, refresh_per_second=2) if self._console.is_terminal else None

    def __enter__(self) -> "Board":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._live:
            self._live.update("")
            self._live.stop()

    def started(self, cell: Any) -> None:
        """A trial runs."""
        values = "  ".join(f"{name} {_short(value)}" for name, value in cell.proposal.items())
        self._say(f"trial {cell.number}: started  {values}")
        self._update(cell.number, "starting")

    def progressed(self, cell: Any, t: int, num_steps: int, metrics: Mapping[str, float]) -> None:
        """A trial reported."""
        if not self._live and (t == 0 or "dev" in metrics):
            self._say(f"trial {cell.number}: step {t}/{num_steps}  {describe(metrics)}")
        self._update(cell.number, f"step {t}/{num_steps}  {describe(metrics)}")

    def ended(self, cell: Any, record: Any) -> None:
        """A trial ended."""
        reason = f": {record.reason}" if record.reason else ""
        self._running.pop(cell.number, None)
        self._say(f"trial {cell.number} ({cell.number + 1} of {self._num_trials}): {record.status}{reason}")
        self._draw()

    def _update(self, number: int, text: str) -> None:
        self._running[number] = text
        self._draw()

    def _draw(self) -> None:
        if not self._live:
            return
        table = Table("trial", "progress", box=None)
        for number, text in sorted(self._running.items()):
            table.add_row(str(number), text)
        self._live.update(table)

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def print_table(frame: pd.DataFrame, console: Console | None = None) -> None:
    """A frame of strings; columns aligned, nothing cut when the output is no terminal."""
    screen = console or Console()
    if not screen.is_terminal:
        announce(frame.to_string(index=False))
        return
    table = Table(*[str(column) for column in frame.columns], box=None)
    for row in frame.itertuples(index=False):
        table.add_row(*[str(value) for value in row])
    screen.print(table)


def _bars(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.fields[seen]}"), console=console)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
