"""Positions of values between the ends of a search's axes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from analysis.contents import BASE
from analysis.formats import show_value
from rse_study.results.study_record import AxisRecord

COLUMNS = ["trial", "objective", "best", "is_base", "axis", "value", "text", "position"]
MAX_TICKS = 5
ROUND_STEPS = (1.0, 2.0, 5.0)


@dataclass(frozen=True)
class Ruler:
    """An axis in a figure, from 0 at its low end to 1 at its high end."""

    heading: str
    low: float = 0.0
    high: float = 1.0
    is_log: bool = False
    is_whole: bool = False
    choices: tuple[str, ...] = ()
    """the texts of an axis of choices, in the order of the study"""
    is_conditional: bool = False
    """whether only some trials have it"""

    def position(self, value: Any) -> float:
        """Return a value's position from 0 to 1; NaN for 0 on a logarithmic axis."""
        if self.choices:
            text = show_value(value)
            at = self.choices.index(text) if text in self.choices else math.nan
            return at / max(1, len(self.choices) - 1) if len(self.choices) > 1 else 0.5
        number = math.nan if pd.isna(value) else float(value)
        if self.is_log:
            if not number > 0:
                return math.nan
            return _share(math.log10(number), math.log10(self.low), math.log10(self.high))
        return _share(number, self.low, self.high)

    def ticks(self) -> list[tuple[float, str]]:
        if self.choices:
            every = math.ceil(len(self.choices) / MAX_TICKS)
            return [(self.position(choice), choice) for choice in self.choices[::every]]
        values = decades(self.low, self.high) if self.is_log else round_values(self.low, self.high)
        if self.is_whole:
            values = sorted({float(round(value)) for value in values})
        return [(self.position(value), show_value(value)) for value in values]


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low) if high > low else 0.5


def decades(low: float, high: float) -> list[float]:
    """Return a few powers of ten between two numbers, or both if there are under two."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    if last - first < 1:
        return [low, high]
    every = math.ceil((last - first + 1) / MAX_TICKS)
    return [10.0**power for power in range(first, last + 1, every)]


def round_values(low: float, high: float) -> list[float]:
    """Return a few round numbers between two."""
    if high <= low:
        return [low]
    rough = (high - low) / (MAX_TICKS - 1)
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next((unit * digit for digit in ROUND_STEPS if unit * digit >= rough * 0.999), 10 * unit)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [round(number * step, 12) for number in range(first, last + 1)]


def ruler_of(axis: AxisRecord, heading: str, values: Sequence[Any]) -> Ruler:
    """Return an axis' ruler over the searched range and any values tried beyond it."""
    present = [value for value in values if not (pd.api.types.is_scalar(value) and pd.isna(value))]
    if axis.kind == "choice":
        texts = dict.fromkeys(show_value(value) for value in (*axis.choices, *present))
        return Ruler(heading, choices=tuple(texts), is_conditional=bool(axis.when))
    numbers = [float(value) for value in present]
    if axis.log:
        numbers = [number for number in numbers if number > 0]
    ends = [float(end) for end in (axis.low, axis.high) if end is not None]
    low, high = min([*ends, *numbers], default=0.0), max([*ends, *numbers], default=1.0)
    return Ruler(heading, low, high, axis.log, axis.kind == "int", is_conditional=bool(axis.when))


def rulers_of(table: pd.DataFrame, axes: Sequence[AxisRecord], headings: Sequence[str]) -> list[Ruler]:
    """Return the rulers of all axes."""
    pairs = zip(axes, headings, strict=True)
    return [ruler_of(axis, heading, list(table[heading])) for axis, heading in pairs]


def positions_data(table: pd.DataFrame, rulers: Sequence[Ruler]) -> pd.DataFrame:
    """Return a row per complete trial and axis that it has.

    Columns: trial, objective, best, is_base, axis (its heading), value, text (the value for readers), position (from 0
    to 1 on its ruler). Complete trials only, because a score after fewer steps is another quantity.
    """
    complete = table[(table["status"] == "complete") & table["objective"].notna()]
    own = {
        "trial": complete["trial"], "objective": complete["objective"], "best": complete["best"].astype(bool),
        "is_base": complete["label"] == BASE,
    }  # fmt: skip
    frames = []
    for ruler in rulers:
        values = complete[ruler.heading]
        frame = pd.DataFrame(own).assign(
            axis=ruler.heading,
            value=values.astype(object),
            text=[show_value(value) for value in values],
            position=[ruler.position(value) for value in values],
        )
        frames.append(frame[values.notna()] if ruler.is_conditional else frame)
    frame = pd.concat(frames) if frames else pd.DataFrame(columns=COLUMNS)
    return frame.sort_values("trial", kind="stable")[COLUMNS].reset_index(drop=True)
