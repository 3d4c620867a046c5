"""Formats of the numbers in tables."""

from typing import Any

import pandas as pd

from analysis.phrases import show_brief
from rse_study.results.records import DISTANCES
from rse_study.results.study_record import AxisRecord

MINUS, PLUS_MINUS = "\N{MINUS SIGN}", "\N{PLUS-MINUS SIGN}"
NOT_THERE = "\N{EN DASH}"  # for an axis that a trial does not have
STAR = "\N{ASTERISK OPERATOR}"  # no name of ours contains it
DEGENERATE, UNDEFINED = "\N{DAGGER}", "undefined"  # mark and text for a collapsed model's score


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
