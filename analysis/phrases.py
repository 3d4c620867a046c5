"""Times, counts and settings as text outside tables."""

from collections.abc import Iterable
from typing import Any

STATUSES = {"stopped_early": "stopped early", "planned": "not run yet"}


def show_brief(value: Any, digits: int = 3) -> str:
    """Show a configured value; three digits are enough to recognise it."""
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def show_duration(seconds: float) -> str:
    """Show a duration: 3.2 s, 4 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds else ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def show_time(stamp: str) -> str:
    """Show a time of the ledger (UTC, ISO 8601) without its zone."""
    return stamp.replace("T", " ").removesuffix("+00:00")


def show_status(status: str) -> str:
    """Show a cell's status in words."""
    return STATUSES.get(status, status)


def join_words(words: Iterable[Any]) -> str:
    """Join words: a; a and b; a, b and c."""
    *first, last = [str(word) for word in words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """Show a count: 1 cell, 2 cells."""
    return f"{number} {noun}" if number == 1 else f"{number:,} {noun}s"


def show_power(least: float, what: str) -> str:
    """Say which true difference such studies find.

    `what` has {} for it. At 0 nothing varied, so that nobody knows.
    """
    if not least > 1e-9:  # the rest of equal numbers, or NaN
        return "the differences do not vary over seeds, so they do not tell which true difference would be found."
    shown = f"{least:.2f}" if least >= 0.005 else f"{least:.1g}"
    return f"a true {what.replace('{}', shown)} would be found in 4 of 5 such studies."
