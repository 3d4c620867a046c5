"""On which scale values of an axis are told apart."""

from collections.abc import Iterable
from itertools import pairwise
from statistics import mean
from typing import Any, Literal

from analysis.figures.style import INK
from analysis.formats import show_value

AxisScale = Literal["linear", "log", "category"]
DECADES = 100.0  # as many times the least value: two decades are no longer linear
LEAST_GAP = (
    0.3  # of what the gap between two ticks would be if all were even: nearer ones run into each other
)


def scale_of(values: Iterable[float], is_log: bool = False) -> AxisScale:
    """Return the scale that keeps ticks apart: linear, else logarithmic.

    Side by side where a value has no logarithm. `is_log`: the axis is meant to be logarithmic, however few values of it
    there are.
    """
    ticks = sorted(set(values))
    gaps = [high - low for low, high in pairwise(ticks)]
    is_crowded = bool(gaps) and min(gaps) < LEAST_GAP * mean(gaps)
    is_wide = ticks[0] > 0 and ticks[-1] / ticks[0] >= DECADES
    if not (is_log or is_crowded or is_wide):
        return "linear"
    return "log" if ticks[0] > 0 else "category"


def x_axis(values: Iterable[float], scale: AxisScale) -> dict[str, Any]:
    """plotly's settings: a tick at every value."""
    ticks = sorted(set(values))
    texts = [show_value(tick) for tick in ticks]
    look = {"type": scale, "tickfont": {"color": INK}}
    at = positions(ticks, scale)
    order = {"categoryorder": "array", "categoryarray": at} if scale == "category" else {}
    return look | order | {"tickvals": at, "ticktext": texts}


def positions(values: Iterable[float], scale: AxisScale) -> list[Any]:
    """Where values stand on an axis: numbers, or their names among categories."""
    return [repr(float(value)) if scale == "category" else float(value) for value in values]
