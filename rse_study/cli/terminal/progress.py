"""Progress of a study: a row a running cell, a line an ended one, a bar over all."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from analysis.phrases import show_brief, show_duration
from rse_study.cli.terminal.activity_bars import PATIENCE_SECONDS, ActivityBars
from rse_study.cli.terminal.activity_lines import BAR_WIDTHS, draw_bar
from rse_study.cli.terminal.cell_names import name_of
from rse_study.cli.terminal.fitting import (
    INDENT,
    SHORTEST_NAME,
    LinePart,
    fit_line,
    harmless,
    shorten,
    wrapped,
)
from rse_study.cli.terminal.screen import SHOWN, describe
from rse_study.results.records import CellRecord

SHORT_SECONDS = 60.0  # nobody plans by less
MAX_ROWS = 20  # running cells that a screen shows
NUM_RECOUNTS = 100  # in a study: each reads all of its cells
FRAME_ROWS = 6  # of a screen, for what stands around them
NAME_SHARE = 0.45  # of a line: the widest name of a running cell


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
        self._running: dict[str, RunningCell] = {}  # by identity
        self._last: dict[str, str] = {}
        self._num_before = num_ended
        self._paced_from = 0.0  # the first point of a cell: what starts before it is no pace

    def __exit__(self, *raised: Any) -> None:
        self._running.clear()
        super().__exit__(*raised)

    def cells_found(self, cells: Sequence[Any]) -> None:
        """Count cells that ended earlier; they are no part of the pace."""
        self._num_ended += len(cells)
        self._num_before += len(cells)

    def started(self, cell: Any) -> None:
        again = "goes on" if cell.continues else "started"
        self._update(cell, "starting", 0.0)
        if self._live is None:
            parts = [LinePart(again, is_dropped=False), *_values(cell)]
            self._print(fit_line(self._name(cell), parts, self.line_width))

    def progressed(self, cell: Any, t: int, num_steps: int, metrics: Mapping[str, float]) -> None:
        followed = dict.fromkeys((*SHOWN, *self._deciding))
        step, values = f"step {t}/{num_steps}", describe(metrics, tuple(followed))
        if "dev" in metrics:
            self._last[cell.identity] = describe(metrics, self._deciding)
        self._paced_from = self._paced_from or time.monotonic()
        self._update(cell, f"{step}  {values}".rstrip(), t / max(num_steps, 1))
        if self._live is None and (t == 0 or "dev" in metrics):
            parts = [LinePart(step, is_dropped=False), LinePart(values)]
            self._print(fit_line(self._name(cell), parts, self.line_width))

    def ended(self, cell: Any, record: CellRecord) -> None:
        self._num_ended += not cell.continues
        if self._num_ended % max(1, self._num_planned // NUM_RECOUNTS) == 0:
            self._num_planned = self._read_planned() or self._num_planned
        self._running.pop(cell.identity, None)
        seconds = self._seconds_left()
        left = f"about {show_duration(seconds)} left" if seconds >= SHORT_SECONDS else ""
        stopped = record.status == "stopped_early"
        verdict = record.status.replace("_", " ")
        reason = record.reason.removeprefix("stopped ") if stopped else record.reason
        with_reason = f"{verdict}{' ' if stopped else ': '}{reason}" if reason else verdict
        values = _values(cell) if self._live is not None else ()  # elsewhere a line said them at its start
        others = [
            LinePart(self._last.pop(cell.identity, "")),
            *(replace(value, is_dropped_first=True) for value in values),
            LinePart(show_duration(record.duration_s), is_dropped_first=True),
            LinePart(f"[{self._ended_of_planned()}]", is_dropped=False),
            LinePart(left),
        ]
        self._say_of(cell, with_reason, others, verdict, reason)

    def lost(self, cell: Any, reason: str) -> None:
        self._running.pop(cell.identity, None)
        self._say_of(cell, f"lost: {reason}; tried again", (), "lost, tried again", reason)

    def node_lost(self, node: str, cells: Sequence[Any]) -> None:
        for cell in cells:
            self._running.pop(cell.identity, None)
        number = len(cells)
        again = f"; {number} cell{'s are' if number > 1 else ' is'} tried again" if number else ""
        self.message(f"node {node} was lost{again}")

    def _say_of(
        self, cell: Any, with_reason: str, others: Sequence[LinePart], verdict: str, reason: str
    ) -> None:
        """Print one line about a cell; a reason that does not fit stands whole below it."""
        name, kept = self._name(cell), [part for part in others if not part.is_dropped]
        short, width = shorten(name, SHORTEST_NAME), self.line_width
        fits = cell_len(fit_line(short, [LinePart(with_reason, is_dropped=False), *kept], width)) <= width
        first = LinePart(with_reason if fits else verdict, is_dropped=False)
        self._print(fit_line(name, [first, *others], width))
        if reason and not fits:
            self._print(wrapped(f"{INDENT}{reason}", width, indent=""))

    def _update(self, cell: Any, text: str, share: float) -> None:
        known = self._running.get(cell.identity)
        since = known.since if known else time.monotonic()
        self._running[cell.identity] = RunningCell(self._name(cell), text, share, since)
        self._wake()

    def _name(self, cell: Any) -> str:
        name = cell.row or cell.label
        return name_of(cell.stage, cell.number, cell.seed, name, shows_seeds=self._shows_seeds)

    def _rows(self, console: Console) -> Iterator[Text]:
        """Yield a line a running cell, then the bar over all cells and other activities."""
        now = time.monotonic()
        running = sorted((cell.name, cell.describe_progress(now)) for cell in tuple(self._running.values()))
        shown = running[: max(1, min(MAX_ROWS, console.height - FRAME_ROWS))]
        lines = running_lines(shown, console.width)
        if len(running) > len(shown):
            lines.append(f"... and {len(running) - len(shown)} more")
        if self._running or self._num_ended > self._num_before:
            lines.append(self._bar(console.width, ascii_only=console.options.ascii_only))
        yield from (Text(harmless(line), no_wrap=True, overflow="crop") for line in lines)
        yield from super()._rows(console)

    def _bar(self, width: int, *, ascii_only: bool) -> str:
        parts = self.summary()
        for bar_width in BAR_WIDTHS:
            bar = draw_bar(self._num_ended, self._num_planned, bar_width, ascii_only=ascii_only)
            line = "  ".join(part for part in (bar, ", ".join(parts)) if part)
            if len(line) <= width:
                return line
        return shorten(", ".join((parts[0], *parts[2:])), width)

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
        under_way = sum(cell.share for cell in self._running.values())
        seconds = time.monotonic() - self._paced_from
        return seconds * max(num_left - under_way, 0.0) / (num_here + under_way)


@dataclass(frozen=True)
class RunningCell:
    """Progress of a running cell."""

    name: str
    text: str
    """its last report"""
    share: float
    """share of its steps that is done"""
    since: float
    """on the monotonic clock, in seconds"""

    def describe_progress(self, now: float) -> str:
        """Return its progress; before its first point, how long it has been starting."""
        seconds = now - self.since
        waits = self.text == "starting" and seconds >= PATIENCE_SECONDS
        return f"starting ({show_duration(seconds)})" if waits else self.text


def running_lines(rows: Sequence[tuple[str, str]], width: int) -> list[str]:
    """Align names and progress of running cells as lines inside a width."""
    names = [shorten(name, int(width * NAME_SHARE)) for name, _ in rows]
    longest = max(map(len, names), default=0)
    return [
        shorten(f"{name.ljust(longest)}  {text}", width) for name, (_, text) in zip(names, rows, strict=True)
    ]


def _values(cell: Any) -> Iterator[LinePart]:
    """Yield the settings of a cell; a grid's cells have them in their names already."""
    if cell.stage != "grid" or cell.label:
        yield from (LinePart(f"{name} {show_brief(value)}") for name, value in cell.proposal.items())
