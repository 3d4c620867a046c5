"""Numbers, times and names as readers see them."""

from collections.abc import Iterable
from typing import Any

import pandas as pd

MINUS, PLUS_MINUS = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}"
STAR = "\N{ASTERISK OPERATOR}"  # stands in no name of ours
DEGENERATE, UNDEFINED = "\N{DAGGER}", "undefined"  # of a score that a collapsed model got
FINE = ("alignment", "uniformity", "drift")  # distances on the unit sphere; the papers print three decimals
STATUSES = {"stopped_early": "stopped early", "planned": "not run yet"}


def show_number(value: float, decimals: int = 2) -> str:
    """Fixed decimals; nothing where there is no number."""
    return "" if pd.isna(value) else f"{value:.{decimals}f}"


def decimals_of(metric: str, usual: int = 2, fine: int = 3) -> int:
    """Return how many decimals tell two values of a metric apart.

    Parameters
    ----------
    metric
        By its name in the ledger.
    usual
        Of percentages.
    fine
        Of distances.
    """
    return fine if metric.endswith(FINE) else usual


def show_measured(value: float, decimals: int, is_degenerate: bool) -> str:
    """Show a score; with a mark where a collapsed model got it, even if it is none.

    Parameters
    ----------
    value
        The score, or NaN.
    decimals
        How many are shown.
    is_degenerate
        A collapsed model got it.
    """
    text = show_number(value, decimals)
    return f"{text or UNDEFINED} {DEGENERATE}" if is_degenerate else text


def show_spread(mean: str, sd: float, decimals: int = 2, is_starred: bool = False) -> str:
    """Return a mean with its standard deviation, and a star: "61.2 ± 1.0∗".

    Parameters
    ----------
    mean
        As it is shown.
    sd
        The standard deviation; NaN of one seed.
    decimals
        How many it is shown with.
    is_starred
        The difference from a baseline is more than chance.
    """
    spread = f" {PLUS_MINUS} {sd:.{decimals}f}" if mean and pd.notna(sd) else ""
    return f"{mean}{spread}{STAR if is_starred else ''}"


def show_signed(value: float, decimals: int = 2) -> str:
    """A difference, always with its sign; one that rounds to zero has none."""
    if pd.isna(value):
        return ""
    text = f"{abs(value):.{decimals}f}"
    if not float(text):
        return text
    return f"+{text}" if value > 0 else f"{MINUS}{text}"


def show_value(value: Any, digits: int = 3) -> str:
    """A configured value: three digits are enough to recognise it."""
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def show_duration(seconds: float) -> str:
    """3.2 s, 4 min 05 s, 2 h 10 min."""
    if seconds < 60:
        return f"{seconds:.1f} s" if seconds else ""
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"


def show_time(stamp: str) -> str:
    """A time of the ledger (UTC, ISO 8601) without its zone."""
    return stamp.replace("T", " ").removesuffix("+00:00")


def show_status(status: str) -> str:
    """A cell's status in words."""
    return STATUSES.get(status, status)


def join_words(words: Iterable[Any]) -> str:
    """a; a and b; a, b and c."""
    *first, last = [str(word) for word in words] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def counted(number: int, noun: str) -> str:
    """1 cell, 2 cells."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
