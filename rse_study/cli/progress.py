"""Progress of a study on a screen.

One row a running cell, one line a cell that ended, a bar over all of them: a `StudyCallback` of on_ray.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from analysis.formats import show_duration, show_value
from rse_study.cli.cell_names import name_of
from rse_study.cli.screen import SHOWN, describe
from rse_study.results.records import CellRecord
from rse_study.results.row_names import names_of_rows

BAR_WIDTH = 30
SHORT_SECONDS = 60.0  # nobody plans by less
MAX_ROWS = 20  # running cells that a screen shows


class ProgressBoard:
    """Shows what happens in a study, as it happens.

    Parameters
    ----------
    num_planned
        Cells in all.
    num_ended
        Cells that had ended before.
    console
        Where it is shown; a terminal gets a live table, anything else plain lines.
    objective
        The metric that decides, shown of a cell that ended beside its dev score.
    read_names
        What the cells of a grid are called, by identity: which rows share a name shows in all of them. All are in the
        ledger before the first one runs. A cell that is not among them goes by its own row.
    """

    def __init__(
        self,
        num_planned: int,
        num_ended: int = 0,
        console: Console | None = None,
        objective: str = "dev",
        read_names: Callable[[], Mapping[str, str]] = dict,
    ) -> None:
        self._console, self._deciding = console or Console(), tuple(dict.fromkeys(("dev", objective)))
        self._num_planned, self._num_ended = num_planned, num_ended
        self._read_names = read_names
        self._names: Mapping[str, str] = {}
        self._running: dict[str, tuple[str, str]] = {}  # by identity: name, progress
        self._last: dict[str, str] = {}
        self._num_before, self._began = num_ended, 0.0
        # stderr is not ours while Ray runs: what it prints goes to a file, and must not come back above the table.
        live = Live(console=self._console, refresh_per_second=2, redirect_stderr=False)
        self._live = live if self._console.is_terminal else None

    def __enter__(self) -> "ProgressBoard":
        if self._live:
            self._live.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._live:
            self._live.update("")
            self._live.stop()

    def started(self, cell: Any) -> None:
        """A cell runs."""
        values = "  ".join(f"{name} {show_value(value)}" for name, value in cell.proposal.items())
        again, self._began = "goes on" if cell.continues else "started", self._began or time.monotonic()
        self._say(f"{self._name(cell)}: {again}  {values}".rstrip())
        self._update(cell, "starting")

    def progressed(self, cell: Any, t: int, num_steps: int, metrics: Mapping[str, float]) -> None:
        """Show what a cell reported.

        Parameters
        ----------
        cell
            Its proposal, as the cell queue gave it out.
        t, num_steps
            Optimiser steps done, and in all.
        metrics
            What was measured at step t.
        """
        followed = dict.fromkeys((*SHOWN, *self._deciding))
        seen = f"step {t}/{num_steps}  {describe(metrics, tuple(followed))}"
        if not self._live and (t == 0 or "dev" in metrics):
            self._say(f"{self._name(cell)}: {seen}")
        if "dev" in metrics:
            self._last[cell.identity] = describe(metrics, self._deciding)
        self._update(cell, seen)

    def ended(self, cell: Any, record: CellRecord) -> None:
        """A cell ended; `record` says how."""
        self._num_ended += not cell.continues
        self._running.pop(cell.identity, None)
        parts = [_verdict(record), self._last.pop(cell.identity, ""), show_duration(record.duration_s)]
        seconds = self._seconds_left()
        left = f", about {show_duration(seconds)} left" if seconds >= SHORT_SECONDS else ""
        count = f"[{self._num_ended} of {self._num_planned}{left}]"
        self._say(f"{self._name(cell)}: {'  '.join(part for part in (*parts, count) if part)}")
        self._draw()

    def lost(self, cell: Any, reason: str) -> None:
        """A cell's process ended without a result; it is tried again."""
        self._running.pop(cell.identity, None)
        self._say(f"{self._name(cell)}: lost: {reason}; tried again")
        self._draw()

    def node_lost(self, node: str, cells: Sequence[Any]) -> None:
        """A node was lost, and these cells with it; they are tried again."""
        for cell in cells:
            self._running.pop(cell.identity, None)
        number = len(cells)
        again = f"; {number} cell{'s are' if number > 1 else ' is'} tried again" if number else ""
        self._say(f"node {node} was lost{again}")
        self._draw()

    def message(self, text: str) -> None:
        """Something about the study as a whole."""
        self._say(text)

    def _update(self, cell: Any, text: str) -> None:
        self._running[cell.identity] = (self._name(cell), text)
        self._draw()

    def _name(self, cell: Any) -> str:
        if cell.stage == "grid" and cell.identity not in self._names:
            self._names = self._read_names()
        if cell.identity in self._names:
            return self._names[cell.identity]
        (name,) = names_of_rows([(cell.number, cell.label, cell.proposal if cell.stage == "grid" else {})])
        return name_of(cell.stage, cell.number, cell.seed, name)

    def _draw(self) -> None:
        if not self._live:
            return
        table = Table("cell", "progress", box=None)
        rows = sorted(self._running.values())
        for row in rows[:MAX_ROWS]:
            table.add_row(*row)
        if len(rows) > MAX_ROWS:
            table.add_row("...", f"and {len(rows) - MAX_ROWS} more")
        bar = Table.grid(padding=(0, 2))
        total = max(self._num_planned, 1)
        bar.add_row(ProgressBar(total, self._num_ended, width=BAR_WIDTH), Text(self._summary()))
        self._live.update(Group(table, bar))

    def _summary(self) -> str:
        """`12 of 40 cells ended, 4 running, about 3 min 20 s left at this pace`."""
        parts = [f"{self._num_ended} of {self._num_planned} cells ended", f"{len(self._running)} running"]
        if seconds := self._seconds_left():
            parts.append(f"about {show_duration(seconds)} left at this pace")
        return ", ".join(parts)

    def _seconds_left(self) -> float:
        """At the pace of this run's cells so far; 0 where none has ended yet."""
        num_here, num_left = self._num_ended - self._num_before, self._num_planned - self._num_ended
        return (
            (time.monotonic() - self._began) * num_left / num_here if num_here > 0 and num_left > 0 else 0.0
        )

    def _say(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


def _verdict(record: CellRecord) -> str:
    """`complete`; `stopped early at step 15 of 60`; `failed: step 3: the loss is not finite`."""
    if record.status == "stopped_early":
        return f"stopped early {record.reason.removeprefix('stopped ')}".rstrip()
    return f"{record.status}: {record.reason}" if record.reason else record.status
