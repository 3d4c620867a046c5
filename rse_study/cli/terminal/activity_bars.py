"""Progress bars for whatever takes longer than two seconds."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

from rich.console import Console, RenderableType
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn
from rich.table import Column
from rich.text import Text

from analysis.formats import show_duration
from rse_study.activity import ActivityCallback
from rse_study.cli.terminal.screen import harmless, say, stdout

PATIENCE_SECONDS = 2.0
"""anything shorter is not shown"""
LINE_SECONDS = 10.0
"""between two plain lines; what took as long leaves a line when it ends"""
NAME_WIDTH = 36
"""columns of a task's name, at most"""
PACE_SECONDS = 3600.0
"""the newest part of a task, from which its pace is measured"""


class ActivityBars:
    """Callback that shows bars on a terminal, elsewhere a plain line now and then."""

    def __init__(self, console: Console | None = None) -> None:
        self.console = console or stdout()
        name, figures = (Column(no_wrap=True, max_width=most) for most in (NAME_WIDTH, None))
        self.bars = LongTasks(
            TextColumn("{task.description}", markup=False, table_column=name),
            BarColumn(bar_width=10),
            FiguresColumn(table_column=figures),
            console=self.console,
            refresh_per_second=4,
            transient=True,
            speed_estimate_period=PACE_SECONDS,
            get_time=lambda: time.monotonic(),
            # stderr is never ours: Ray's and libraries' words must not come back above the bars.
            redirect_stdout=self.console.file is sys.stdout,
            redirect_stderr=False,
        )
        self._activities: dict[str, Task] = {}
        self._said = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.bars.live.stop()

    @property
    def is_drawn(self) -> bool:
        return self.bars.live.is_started

    def message(self, text: str) -> None:
        say(text, self.console)

    def advanced(self, activity: str, done: int, total: int, detail: str = "") -> None:
        task = self._activities.get(activity)
        if task is None or done < task.completed:
            if task is not None:
                self.bars.remove_task(task.id)
            task = self._activities[activity] = self._begin(activity, completed=done, total=total)
        self.bars.update(task.id, completed=done, detail=detail)
        if done >= total:
            self._end(activity, f"{done:,} in {show_seconds(task)}  {show_pace(task)}  {detail}")
        elif not self.is_drawn and seconds_of(task) >= PATIENCE_SECONDS:
            self._say_now_and_then(f"{activity}: {show_figures(task)}")

    @contextmanager
    def waiting(self, activity: str) -> Iterator[None]:
        """Show how long something takes that cannot be counted; on a terminal only."""
        task = self._activities[activity] = self._begin(activity, total=None)
        try:
            yield
        finally:
            self._end(activity, show_seconds(task) if self.is_drawn else "")

    def _begin(self, name: str, **given: Any) -> Task:
        identity = self.bars.add_task(harmless(name), **given)
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.bars.start()
        return next(task for task in self.bars.tasks if task.id == identity)

    def _end(self, activity: str, figures: str) -> None:
        task = self._activities.pop(activity)
        self.bars.remove_task(task.id)
        if figures and seconds_of(task) >= LINE_SECONDS:
            self._said = -LINE_SECONDS
            self._say_now_and_then(f"{activity}: {figures}".rstrip())

    def _say_now_and_then(self, line: str) -> None:
        if time.monotonic() - self._said >= LINE_SECONDS:
            self.message(line)
            self._said = time.monotonic()


class LongTasks(Progress):
    """Bars of tasks that have taken a while, and of those with their own text."""

    def get_renderables(self) -> Iterable[RenderableType]:
        shown = [one for one in self.tasks if "text" in one.fields or seconds_of(one) >= PATIENCE_SECONDS]
        yield self.make_tasks_table(shown)


class FiguresColumn(ProgressColumn):
    """Column of a task's own text, or of its count, time left and pace."""

    def render(self, task: Task) -> Text:
        return Text(harmless(task.fields.get("text") or show_figures(task)))


def show_figures(task: Task) -> str:
    """Describe how far a task is: `33/100  21 s left  3.2/s  loss 1.5`."""
    if task.total is None:
        return show_seconds(task)
    left = f"{_duration(task.time_remaining)} left" if task.time_remaining else ""
    count = f"{task.completed:,.0f}/{task.total:,.0f}"
    return "  ".join(filter(None, (count, left, show_pace(task), task.fields.get("detail"))))


def show_pace(task: Task) -> str:
    """Format a pace in the unit that suits it: 41/s, 12/min, 3.2/h."""
    if not task.speed:
        return ""
    unit, factor = next(
        ((unit, f) for unit, f in (("s", 1), ("min", 60)) if task.speed * f >= 1), ("h", 3600)
    )
    number = task.speed * factor
    return f"{number:,.0f}/{unit}" if number >= 10 else f"{number:.1f}/{unit}"


def seconds_of(task: Task) -> float:
    """Return how long a task has taken."""
    return task.elapsed or 0.0


def show_seconds(task: Task) -> str:
    """Describe how long a task has taken."""
    return _duration(seconds_of(task))


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else show_duration(seconds)


class SaidOnce:
    """Callback that passes each sentence on once, for what several trials share."""

    def __init__(self, callback: ActivityCallback) -> None:
        self.advanced, self._callback = callback.advanced, callback
        self._said = set[str]()

    def message(self, text: str) -> None:
        if text not in self._said:
            self._said.add(text)
            self._callback.message(text)
