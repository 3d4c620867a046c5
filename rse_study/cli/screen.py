"""Progress on a screen: rich on a terminal, plain lines elsewhere."""

import time
from collections.abc import Mapping, Sequence
from types import TracebackType

import pandas as pd
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

SHOWN = ("loss", "dev")
LINE_SECONDS = 10.0  # between two plain lines of one run


def announce(text: str) -> None:
    """Print one line at once."""
    print(text, flush=True)


def describe(metrics: Mapping[str, float], shown: Sequence[str] = SHOWN) -> str:
    """Return the few metrics a reader follows, in one line."""
    return "  ".join(f"{name} {metrics[name]:.4g}" for name in shown if name in metrics)


class Bar:
    """Progress of one training run: a bar on a terminal, lines elsewhere."""

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
        """Show that step `t` is done.

        Parameters
        ----------
        t, num_steps
            Optimiser steps done, and in all.
        metrics
            What was measured at step t; a line is printed where the dev score is among them.
        """
        if self._rich and self._task is not None:
            self._rich.update(self._task, completed=t, total=num_steps, seen=describe(metrics))
        elif t in (0, num_steps) or "dev" in metrics or time.monotonic() - self._said >= LINE_SECONDS:
            announce(f"{self._title}: step {t}/{num_steps}  {describe(metrics)}")
            self._said = time.monotonic()


def print_table(frame: pd.DataFrame, console: Console | None = None) -> None:
    """Print a frame of strings, its columns aligned, the first one to the left.

    Nothing is cut when the output is no terminal.
    """
    screen = console or Console()
    if not screen.is_terminal:
        first = frame.columns[0]
        width = max(len(str(value)) for value in [first, *frame[first]])
        padded = frame.assign(**{first: [str(value).ljust(width) for value in frame[first]]})
        announce(padded.rename(columns={first: str(first).ljust(width)}).to_string(index=False))
        return
    table = Table(*[str(column) for column in frame.columns], box=None)
    for row in frame.itertuples(index=False):
        table.add_row(*[str(value) for value in row])
    screen.print(table)


def _bars(console: Console) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, TextColumn("{task.fields[seen]}"), console=console)
