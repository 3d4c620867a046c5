"""Bars for whatever takes longer than two seconds: an `ActivityCallback` on a screen.

On a terminal a line with a bar, a rate and the time left; elsewhere a plain line now and then.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TypeVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.text import Text

from rse_study.activity import ActivityCallback
from rse_study.cli.fitting import LinePart, fit_line, shorten, wrapped
from rse_study.cli.screen import put, stdout, width_of

Bars = TypeVar("Bars", bound="ActivityBars")
PATIENCE_SECONDS = 2.0
"""what takes no longer is not shown"""
LINE_SECONDS = 10.0
"""between two plain lines; what took as long leaves a line when it ends"""
LINE_WIDTH = 80
"""of a line of progress where there is no terminal"""
BAR_WIDTHS = (30, 20, 10, 0)
SHORTEST = 16
"""columns of an activity's name beside a bar"""


@dataclass(frozen=True)
class Activity:
    """How far something is that takes a while."""

    name: str
    began: float
    """on the monotonic clock, in seconds"""
    done_before: int
    """what was done when it was first heard of: no part of the pace"""
    done: int = 0
    total: int = 0
    """0: nobody knows"""
    detail: str = ""

    def pace(self, now: float) -> float:
        """Counts a second; 0 where nothing was done yet."""
        seconds = now - self.began
        return (self.done - self.done_before) / seconds if seconds > 0 else 0.0

    def seconds_left(self, now: float) -> float:
        """Seconds at this pace; 0 where nobody knows."""
        pace = self.pace(now)
        return (self.total - self.done) / pace if pace > 0 else 0.0


class ActivityBars:
    """Shows activities from their third second on.

    Parameters
    ----------
    console
        Where they are shown; None: stdout. Of a command that prints data, stderr.
    """

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or stdout()
        self._activities: dict[str, Activity] = {}
        self._said = time.monotonic()
        self._live: Live | None = None

    def __enter__(self: Bars) -> Bars:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        self._activities.clear()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def message(self, text: str) -> None:
        """Print a sentence, above the bars where there are some."""
        self._print(wrapped(text, width_of(self.console)))

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        """Show that an activity came so far.

        Parameters
        ----------
        activity
            Its name, and what is counted.
        done, total
            How many, and of how many.
        detail
            What else is known of it now.
        """
        now, known = time.monotonic(), self._activities.get(activity)
        if known is None or done < known.done:
            known = Activity(activity, now, done)
        known = replace(known, done=done, total=total, detail=detail)
        if done >= total:
            self._end(known, now)
            return
        self._activities[activity] = known
        self._wake()
        if self._live is None and self._is_due(known, now):
            self._print(plain_line(known, now, self.line_width))
            self._said = now

    @contextmanager
    def waiting(self, activity: str) -> Iterator[None]:
        """Show how long something takes that cannot be counted."""
        begun = Activity(activity, time.monotonic(), 0)
        self._activities[activity] = begun
        self._wake()
        try:
            yield
        finally:
            self._end(begun, time.monotonic())

    @property
    def line_width(self) -> int:
        """Columns that a line of progress may have."""
        return width_of(self.console) or LINE_WIDTH

    def _is_due(self, activity: Activity, now: float) -> bool:
        return now - activity.began >= PATIENCE_SECONDS and now - self._said >= LINE_SECONDS

    def _end(self, activity: Activity, now: float) -> None:
        self._activities.pop(activity.name, None)
        if now - activity.began >= LINE_SECONDS:
            self._print(end_line(activity, now, self.line_width))
            self._said = now

    def _wake(self) -> None:
        """Draw from now on, where the console is a terminal that can."""
        if self._live is None and self.console.is_terminal and not self.console.is_dumb_terminal:
            # stderr is never ours: Ray's and libraries' words must not come back above the bars.
            self._live = Live(
                self,
                console=self.console,
                refresh_per_second=4,
                transient=True,
                redirect_stdout=self.console.file is sys.stdout,
                redirect_stderr=False,
            )
            self._live.start()

    def _print(self, text: str) -> None:
        put(text, self.console)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        yield from self._rows(console)

    def _rows(self, console: Console) -> Iterator[Text]:
        """A line for each activity that takes long; asked by the thread that draws."""
        now, ascii_only = time.monotonic(), console.options.ascii_only
        for activity in tuple(self._activities.values()):
            if now - activity.began >= PATIENCE_SECONDS:
                line = bar_line(activity, now, console.width, ascii_only=ascii_only)
                yield Text(line, no_wrap=True, overflow="crop")


class SaidOnce:
    """Passes activities on, and each sentence once: what several trials share.

    Parameters
    ----------
    callback
        Gets them.
    """

    def __init__(self, callback: ActivityCallback) -> None:
        self.advanced, self._callback = callback.advanced, callback
        self._said = set[str]()

    def message(self, text: str) -> None:
        """Pass a sentence on, the first time."""
        if text not in self._said:
            self._said.add(text)
            self._callback.message(text)


def bar_line(activity: Activity, now: float, width: int, *, ascii_only: bool = False) -> str:
    """Draw an activity on one line: name, bar, count, rate, time left.

    What there is no room for is left out: first what else is known of it, then the bar, the rate, the time left.

    Parameters
    ----------
    activity
        How far it is.
    now
        On the monotonic clock, in seconds.
    width
        Columns.
    ascii_only
        Whether the terminal has no other characters.
    """
    if not activity.total:
        return fit_line(activity.name, [LinePart(_seconds(now - activity.began), is_dropped=False)], width)
    count, rate, left = _figures(activity, now)
    for bar_width, parts in (
        *((bar_width, (count, rate, left, activity.detail)) for bar_width in BAR_WIDTHS[:1]),
        *((bar_width, (count, rate, left)) for bar_width in BAR_WIDTHS),
        (0, (count, left)),
        (0, (count,)),
    ):
        bar = draw_bar(activity.done, activity.total, bar_width, ascii_only=ascii_only)
        end = "  ".join(part for part in (bar, *parts) if part)
        room = width - cell_len(end) - 2
        if room >= min(SHORTEST, cell_len(activity.name)):
            break
    return f"{shorten(activity.name, max(room, 1))}  {end}"


def draw_bar(done: int, total: int, width: int, *, ascii_only: bool = False) -> str:
    """Draw a bar, as full as `done` is of `total`.

    Parameters
    ----------
    done, total
        How many, and of how many.
    width
        Columns.
    ascii_only
        Whether the terminal has no other characters.
    """
    full, empty = ("#", ".") if ascii_only else ("━", "╌")
    filled = width * min(done, total) // max(total, 1)
    return full * filled + empty * (width - filled)


def plain_line(activity: Activity, now: float, width: int) -> str:
    """Say how far an activity is, without a terminal."""
    count, rate, left = _figures(activity, now)
    parts = [LinePart(count, is_dropped=False), LinePart(left), LinePart(rate), LinePart(activity.detail)]
    return fit_line(activity.name, parts, width)


def end_line(activity: Activity, now: float, width: int) -> str:
    """Say how long an activity took."""
    seconds = now - activity.began
    if not activity.total:
        return fit_line(activity.name, [LinePart(_seconds(seconds), is_dropped=False)], width)
    number = LinePart(f"{activity.done:,} in {_seconds(seconds)}", is_dropped=False)
    return fit_line(
        activity.name, [number, LinePart(_rate(activity.pace(now))), LinePart(activity.detail)], width
    )


def _figures(activity: Activity, now: float) -> tuple[str, str, str]:
    left = activity.seconds_left(now)
    count = f"{activity.done:,}/{activity.total:,}"
    return count, _rate(activity.pace(now)), f"{_seconds(left)} left" if left else ""


def _rate(pace: float) -> str:
    """A pace in the unit that suits it: 41/s, 12/min, 3.2/h."""
    if pace <= 0:
        return ""
    unit, factor = next(((unit, f) for unit, f in (("s", 1), ("min", 60)) if pace * f >= 1), ("h", 3600))
    number = pace * factor
    return f"{number:,.0f}/{unit}" if number >= 10 else f"{number:.1f}/{unit}"


def _seconds(seconds: float) -> str:
    from analysis.formats import show_duration  # with it comes pandas, which `plan` has no need of

    return f"{seconds:.0f} s" if seconds < 60 else show_duration(seconds)
