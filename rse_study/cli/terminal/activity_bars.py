"""Progress bars for whatever takes longer than two seconds."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import TracebackType
from typing import TypeVar

from rich.console import Console, ConsoleOptions
from rich.live import Live
from rich.text import Text

from rse_study.activity import ActivityCallback
from rse_study.cli.terminal.activity_lines import Activity, bar_line, end_line, plain_line
from rse_study.cli.terminal.fitting import harmless, wrapped
from rse_study.cli.terminal.screen import put, stdout, width_of

Bars = TypeVar("Bars", bound="ActivityBars")
PATIENCE_SECONDS = 2.0
"""anything shorter is not shown"""
LINE_SECONDS = 10.0
"""between two plain lines; what took as long leaves a line when it ends"""
LINE_WIDTH = 80
"""columns of a progress line without a terminal"""


class ActivityBars:
    """An `ActivityCallback`: bars on a terminal, elsewhere a plain line now and then."""

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
        self._print(wrapped(text, width_of(self.console)))

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        now, known = time.monotonic(), self._activities.get(activity)
        if known is None or done < known.done:
            known = Activity(activity, now, done)
        first = known.first or ((now, done) if done > known.done_before else None)
        known = replace(known, done=done, total=total, detail=detail, first=first)
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
        """Show how long something takes that cannot be counted; on a terminal only."""
        begun = Activity(activity, time.monotonic(), 0)
        self._activities[activity] = begun
        self._wake()
        try:
            yield
        finally:
            if self._live is not None:
                self._end(begun, time.monotonic())

    @property
    def line_width(self) -> int:
        return width_of(self.console) or LINE_WIDTH

    def _is_due(self, activity: Activity, now: float) -> bool:
        return now - activity.began >= PATIENCE_SECONDS and now - self._said >= LINE_SECONDS

    def _end(self, activity: Activity, now: float) -> None:
        self._activities.pop(activity.name, None)
        if now - activity.began >= LINE_SECONDS:
            self._print(end_line(activity, now, self.line_width))
            self._said = now

    def _wake(self) -> None:
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
        """Yield a line for each long activity; called by the thread that draws."""
        now, ascii_only = time.monotonic(), console.options.ascii_only
        for activity in tuple(self._activities.values()):
            if now - activity.began >= PATIENCE_SECONDS:
                line = bar_line(activity, now, console.width, ascii_only=ascii_only)
                yield Text(harmless(line), no_wrap=True, overflow="crop")


class SaidOnce:
    """Callback that passes each sentence on once, for what several trials share."""

    def __init__(self, callback: ActivityCallback) -> None:
        self.advanced, self._callback = callback.advanced, callback
        self._said = set[str]()

    def message(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._callback.message(text)
