"""The choice of a scale on which an axis' values do not overlap."""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import log10
from statistics import mean
from typing import Any, Literal

from analysis.figures.style import INK
from analysis.formats import show_value

NARROW, CHARACTER = 250.0, 7.0  # pixels: of a plot on a telephone, and of a character below it
AxisScale = Literal["linear", "log", "category"]
DECADES = 100.0  # ratio of values (two decades) from which the scale is logarithmic
MOST_TICKS = 60  # with a text each: nobody reads more, and a browser draws a thousand for half a minute
LEAST_GAP = 0.3  # of the even gap between ticks: closer ones overlap


def scale_of(values: Iterable[float], is_log: bool = False) -> AxisScale:
    """Return the scale that keeps ticks apart: linear, else log, else category."""
    ticks = sorted(set(values))
    gaps = [high - low for low, high in pairwise(ticks)]
    is_crowded = bool(gaps) and min(gaps) < LEAST_GAP * mean(gaps)
    is_wide = ticks[0] > 0 and ticks[-1] / ticks[0] >= DECADES
    if not (is_log or is_crowded or is_wide):
        return "linear"
    return "log" if ticks[0] > 0 else "category"


def x_axis(values: Iterable[float], scale: AxisScale) -> dict[str, Any]:
    """Return plotly's settings with a tick at every value, or at some of many."""
    ticks = sorted(set(values))
    every = positions(ticks, scale)
    order = {"categoryorder": "array", "categoryarray": every} if scale == "category" else {}
    look = {"type": scale, "tickfont": {"color": INK}} | order
    if len(ticks) > MOST_TICKS and scale != "category":
        return look  # plotly chooses round numbers
    ticks = ticks[:: 1 + len(ticks) // (MOST_TICKS + 1)]
    texts = [show_value(tick) for tick in ticks]
    angle = tick_angle(texts, coordinates(ticks, scale))
    return look | {"tickangle": angle, "tickvals": positions(ticks, scale), "ticktext": texts}


def coordinates(ticks: Sequence[float], scale: AxisScale) -> list[float]:
    """Return the drawn coordinates of ticks, in any unit."""
    if scale == "category":
        return [float(number) for number in range(len(ticks))]
    return [log10(tick) if scale == "log" else float(tick) for tick in ticks]


def tick_angle(texts: Sequence[str], at: Sequence[float] = ()) -> int:
    """Return 0 where texts fit side by side on a narrow page, else 90 degrees.

    By default plotly slants them, and omits those that would cross the edge.
    """
    stands = list(at) or [float(number) for number in range(len(texts))]
    if len(stands) < 2:
        return 0
    wide = stands[-1] - stands[0]
    gaps = [NARROW * (high - low) / wide for low, high in pairwise(stands)]
    needs = [CHARACTER * (len(one) + len(other)) / 2 + 4 for one, other in pairwise(texts)]
    return 90 if any(need > gap for need, gap in zip(needs, gaps, strict=True)) else 0


def positions(values: Iterable[float], scale: AxisScale) -> list[Any]:
    """Return values as an axis takes them: numbers, or names of categories."""
    return [repr(float(value)) if scale == "category" else float(value) for value in values]
