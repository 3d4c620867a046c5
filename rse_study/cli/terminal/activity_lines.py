"""The progress of an activity as one line: a bar on a terminal, words elsewhere."""

from dataclasses import dataclass

from rich.cells import cell_len

from analysis.phrases import show_duration
from rse_study.cli.terminal.fitting import LinePart, fit_line, shorten

BAR_WIDTHS = (30, 20, 10, 0)
SHORTEST = 16
"""columns of an activity's name beside a bar"""


@dataclass(frozen=True)
class Activity:
    """Progress of something that takes a while."""

    name: str
    began: float
    """on the monotonic clock, in seconds"""
    done_before: int
    """count when it was first heard of; no part of the pace"""
    done: int = 0
    total: int = 0
    """0: unknown"""
    detail: str = ""
    first: tuple[float, int] | None = None
    """time and count at the first advance; the start before it may be slow"""

    def pace(self, now: float) -> float:
        """Return counts a second; 0 where nothing was done yet."""
        seconds = now - self.began
        return (self.done - self.done_before) / seconds if seconds > 0 else 0.0

    def seconds_left(self, now: float) -> float:
        """Return the seconds left at the pace since the first advance; 0 where unknown."""
        if self.done - self.done_before <= 1:
            return 0.0
        since, before = self.first or (self.began, self.done_before)
        if self.done <= before or now <= since:
            since, before = self.began, self.done_before
        return (self.total - self.done) * (now - since) / (self.done - before)


def bar_line(activity: Activity, now: float, width: int, *, ascii_only: bool = False) -> str:
    """Draw an activity on one line: name, bar, count, rate, time left, as they fit."""
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
    """Draw a bar, as full as `done` is of `total`."""
    full, empty = ("#", ".") if ascii_only else ("━", "╌")
    filled = width * min(done, total) // max(total, 1)
    return full * filled + empty * (width - filled)


def plain_line(activity: Activity, now: float, width: int) -> str:
    """Describe the progress of an activity without a bar."""
    count, rate, left = _figures(activity, now)
    parts = [LinePart(count, is_dropped=False), LinePart(left), LinePart(rate), LinePart(activity.detail)]
    return fit_line(activity.name, parts, width)


def end_line(activity: Activity, now: float, width: int) -> str:
    """Describe how long an activity took."""
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
    """Format a pace in the unit that suits it: 41/s, 12/min, 3.2/h."""
    if pace <= 0:
        return ""
    unit, factor = next(((unit, f) for unit, f in (("s", 1), ("min", 60)) if pace * f >= 1), ("h", 3600))
    number = pace * factor
    return f"{number:,.0f}/{unit}" if number >= 10 else f"{number:.1f}/{unit}"


def _seconds(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 60 else show_duration(seconds)
