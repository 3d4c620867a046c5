"""Numbers, times, counts and settings as text."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rse_study.deferred import DeferredModule
from rse_study.results.records import DISTANCES
from rse_study.results.study_record import AxisRecord

if TYPE_CHECKING:
    import pandas as pd
else:  # `status` shows times and counts alone
    pd = DeferredModule("pandas")

STATUSES = {"stopped_early": "stopped early", "planned": "not run yet"}
MINUS, PLUS_MINUS = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}"
NOT_THERE = "\N{EN DASH}"  # for an axis that a trial does not have
STAR = "\N{ASTERISK OPERATOR}"  # no name of ours contains it
DEGENERATE, UNDEFINED = "\N{DAGGER}", "undefined"  # mark and text for a collapsed model's score


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


def show_number(value: float, decimals: int = 2) -> str:
    """Show a number with fixed decimals; "" for NaN."""
    return "" if pd.isna(value) else f"{value:.{decimals}f}".replace("-", MINUS)


def show_with_interval(value: float, low: float, high: float) -> str:
    """Show a number and its interval, if any: "0.33 (0.12 to 0.51)"."""
    alone = show_number(value)
    return alone if pd.isna(low) else f"{alone} ({show_number(low)} to {show_number(high)})"


def decimals_of(metric: str, usual: int = 2, fine: int = 3) -> int:
    """Return how many decimals tell two values of a metric apart."""
    return fine if metric.endswith(DISTANCES) else usual


def show_measured(value: float, decimals: int, is_degenerate: bool) -> str:
    """Show a score, with a mark if it comes from a collapsed model."""
    text = show_number(value, decimals)
    return f"{text or UNDEFINED} {DEGENERATE}" if is_degenerate else text


def show_spread(mean: str, sd: float, decimals: int = 2, is_starred: bool = False) -> str:
    """Show a mean with its standard deviation and perhaps a star: "61.2 ± 1.0∗"."""
    spread = f" {PLUS_MINUS} {sd:.{decimals}f}" if mean and pd.notna(sd) else ""
    return f"{mean}{spread}{STAR if is_starred else ''}"


def show_signed(value: float, decimals: int = 2) -> str:
    """Show a difference with its sign, which a rounded zero does not have."""
    if pd.isna(value):
        return ""
    text = f"{abs(value):.{decimals}f}"
    if not float(text):
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def show_value(value: Any, digits: int = 3) -> str:
    """Show a value of a table like `show_brief`; "" where it is missing."""
    is_missing = pd.api.types.is_scalar(value) and pd.isna(value)
    return "" if is_missing else show_brief(value, digits)


def show_axis_value(axis: AxisRecord, value: Any) -> str:
    """Show a trial's value on an axis; a dash where the axis does not apply to it."""
    return show_value(value) or (NOT_THERE if axis.when else "")


def show_condition(axis: AxisRecord) -> str:
    """Show the condition of an axis, such as "method = dcl or l2p"; "" without one."""
    return "".join(f"{name} = {' or '.join(map(str, values))}" for name, values in axis.when.items())
