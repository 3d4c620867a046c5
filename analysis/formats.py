"""Numbers of a table as readers see them."""

from typing import Any

import pandas as pd

from analysis.phrases import show_brief
from rse_study.results.records import AxisRecord

MINUS, PLUS_MINUS = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}"
NOT_THERE = "\N{EN DASH}"  # of an axis that a trial does not have
STAR = "\N{ASTERISK OPERATOR}"  # stands in no name of ours
DEGENERATE, UNDEFINED = "\N{DAGGER}", "undefined"  # of a score that a collapsed model got
FINE = ("alignment", "uniformity", "drift")  # distances on the unit sphere; the papers print three decimals


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
    """A value of a table, as `show_brief` has it; nothing where there is none."""
    is_missing = pd.api.types.is_scalar(value) and pd.isna(value)
    return "" if is_missing else show_brief(value, digits)


def show_axis_value(axis: AxisRecord, value: Any) -> str:
    """A trial's value on an axis; a dash where the axis belongs to others."""
    return show_value(value) or (NOT_THERE if axis.when else "")


def show_condition(axis: AxisRecord) -> str:
    """Which trials an axis belongs to: "method = dcl or l2p".

    Nothing of one that is in all of them.
    """
    return "".join(f"{name} = {' or '.join(map(str, values))}" for name, values in axis.when.items())
