"""A grid along its axes: lines of means, several measures, and a heat map."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from math import log10
from numbers import Real
from statistics import mean
from typing import Any, Literal

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures import style
from analysis.formats import show_number, show_value
from analysis.scores import scores
from rse_study.results.comparing.contrasts import FactorEffects
from rse_study.results.study_record import AxisRecord

NARROW, CHARACTER = 250.0, 7.0  # pixels: of a plot on a telephone, and of a character below it
AxisScale = Literal["linear", "log", "category"]
DECADES = 100.0  # ratio of values (two decades) from which the scale is logarithmic
MOST_TICKS = 60  # with a text each: nobody reads more, and a browser draws a thousand for half a minute
LEAST_GAP = 0.3  # of the even gap between ticks: closer ones overlap
MAX_LINES, LEAST_VALUES = 6, 3
LINES_COLUMNS = ["series", "x", "seed", "value", "mean"]
MEASURES_COLUMNS = ["measure", "x", "seed", "value", "mean"]
MAX_MEASURES = len(style.SEED_COLOURS)
HEAT_COLUMNS = ["x", "y", "mean", "sd", "num_seeds"]
PALE = [[0.0, "#eaf3fd"], [1.0, "#7fb2ea"]]  # ink stays readable on all of it

DIVERGING = [[0.0, "#f2b48f"], [0.5, style.GROUND], [1.0, "#7fb2ea"]]


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
    look = {"type": scale, "tickfont": {"color": style.INK}} | order
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


def lines_data(contents: Contents, axis: AxisRecord) -> pd.DataFrame:
    """Return series, x, seed, value, mean (over seeds) of complete combinations.

    Empty where the axis is not numeric or has fewer than 3 values, or where the other axes make too many lines. Named
    rows are left out, as they may differ in more than axes.
    """
    cells = contents.stage("grid")
    cells = cells[(cells["label"] == "") & (cells["status"] == "complete") & cells["objective"].notna()]
    headings = contents.study.heading_of
    rows = [
        (series_name(proposal, axis, headings), proposal.get(axis.name), seed, value)
        for proposal, seed, value in zip(cells["proposal"], cells["seed"], cells["objective"], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=LINES_COLUMNS[:-1])
    if (
        not all(is_number(x) for x in frame["x"])
        or frame["x"].nunique() < LEAST_VALUES
        or frame["series"].nunique() > MAX_LINES
    ):
        return pd.DataFrame(columns=LINES_COLUMNS)
    frame = frame.assign(x=frame["x"].astype(float))
    return frame.assign(mean=frame.groupby(["series", "x"])["value"].transform("mean"))


def is_number(value: Any) -> bool:
    """Whether a value is a number; True is not."""
    return isinstance(value, Real) and not isinstance(value, bool)


def series_name(proposal: dict[str, Any], axis: AxisRecord, headings: dict[str, str]) -> str:
    """Return the values of all axes but one as text."""
    others = [
        f"{headings[name]} = {show_value(value)}" for name, value in proposal.items() if name != axis.name
    ]
    return ", ".join(others)


def draw_lines(
    frame: pd.DataFrame, heading: str, label: str, decimals: int = 2, is_log: bool = False
) -> go.Figure:
    """Draw a line through the means and small dots for the seeds."""
    figure, scale = go.Figure(), scale_of(frame["x"], is_log)
    for number, (series, part) in enumerate(frame.groupby("series", sort=False)):
        name = style.label_text(str(series)) if series else "mean of the seeds"
        add_series(figure, part, scale, number, decimals, of_seeds=None if series else style.GREY, name=name)
    figure.update_xaxes(title=style.label_text(heading, 40), **x_axis(frame["x"], scale))
    figure.update_yaxes(title=style.label_text(label, 34), nticks=6)
    return style.plain(figure, height=320)


def add_series(
    figure: go.Figure,
    part: pd.DataFrame,
    scale: AxisScale,
    number: int,
    decimals: int,
    *,
    name: str,
    of_seeds: str | None = None,
    group: str | None = None,
    told: str = "",
) -> None:
    """Add the means and the seeds of a series; `told` begins hover texts."""
    colour, symbol = (cycle[number % len(cycle)] for cycle in (style.SEED_COLOURS, style.SEED_SYMBOLS))
    means = part.drop_duplicates("x").sort_values("x")
    figure.add_scatter(
        x=positions(means["x"], scale), y=means["mean"], name=name, mode="lines+markers", legendgroup=group,
        line={"color": colour, "width": 2}, marker={"symbol": symbol, "size": 9},
        hovertemplate=f"{told}mean %{{y:.{decimals}f}}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=positions(part["x"], scale), y=part["value"], mode="markers", text=part["seed"], showlegend=False,
        marker={"symbol": f"{symbol}-open", "size": 6, "color": of_seeds or colour}, legendgroup=group,
        hovertemplate=f"{told}seed %{{text}}: %{{y:.{decimals}f}}<extra></extra>",
    )  # fmt: skip


def measures_data(contents: Contents, axis: AxisRecord) -> pd.DataFrame:
    """Return measure, x, seed, value, mean (over seeds) of a grid's complete cells.

    Empty unless the grid has this one axis, with two numeric values or more, and two to six measures have values (for
    one measure `lines` shows the same). Named rows are left out.
    """
    cells = contents.stage("grid")
    cells = cells[cells["label"] == ""]
    values = {trial: proposal.get(axis.name) for trial, proposal in cells[["trial", "proposal"]].values}
    if len(contents.study.axes) != 1 or not values or not all(is_number(value) for value in values.values()):
        return pd.DataFrame(columns=MEASURES_COLUMNS)
    frame = scores(contents, cells).dropna(subset=["value", "trial"])
    frame = frame.assign(x=[float(values[trial]) for trial in frame["trial"]])
    num = frame["measure"].nunique()
    if frame["x"].nunique() < 2 or not 2 <= num <= MAX_MEASURES:
        return pd.DataFrame(columns=MEASURES_COLUMNS)
    mean = frame.groupby(["measure", "x"])["value"].transform("mean")
    return frame.assign(mean=mean)[MEASURES_COLUMNS].reset_index(drop=True)


def draw_measures(
    frame: pd.DataFrame, heading: str, decimals: Mapping[str, int], is_log: bool = False
) -> go.Figure:
    """Draw a line through the means of each measure, and small dots for the seeds."""
    figure, scale = go.Figure(), scale_of(frame["x"], is_log)
    for number, (measure, part) in enumerate(frame.groupby("measure", sort=False)):
        name, places = style.label_text(str(measure), 36), decimals.get(str(measure), 2)
        add_series(figure, part, scale, number, places, name=name, group=str(measure), told=f"{name}, ")
    figure.update_xaxes(title=style.label_text(heading, 40), **x_axis(frame["x"], scale))
    figure.update_yaxes(nticks=7)
    return style.legend_below(style.plain(figure, height=380))


def interactions_data(found: FactorEffects) -> pd.DataFrame:
    """Return x, y, mean, sd, num_seeds of the effects of a factorial design.

    Main effects are on the diagonal, pairs on both sides of it; those that share a contrast have the same numbers.
    """
    numbers = found.compared.set_index("effect")[["mean", "sd", "num_seeds"]]
    rows = [
        (*pair, *numbers.loc[effect.name])
        for effect in found.effects
        for term in effect.terms
        for pair in dict.fromkeys([(term[0], term[-1]), (term[-1], term[0])])
    ]
    return pd.DataFrame(rows, columns=HEAT_COLUMNS).astype({"num_seeds": int})


def heat_data(contents: Contents) -> pd.DataFrame:
    """Return x, y, mean, sd, num_seeds of complete combinations.

    x and y are values of the first and second axis as text, in the order of the file; sd divides by n - 1. Named rows
    are left out; a grid without exactly two axes has an empty frame.
    """
    axes = contents.study.axes
    cells = contents.stage("grid")
    cells = cells[(cells["label"] == "") & (cells["status"] == "complete") & cells["objective"].notna()]
    if len(axes) != 2 or cells.empty:
        return pd.DataFrame(columns=HEAT_COLUMNS)
    x, y = ([show_value(proposal[axis.name]) for proposal in cells["proposal"]] for axis in axes)
    groups = cells.assign(x=x, y=y).groupby(["x", "y"], sort=False)["objective"]
    return groups.agg(mean="mean", sd="std", num_seeds="count").reset_index()


def draw_heat(
    frame: pd.DataFrame, headings: tuple[str, ...], label: str, decimals: int = 2, mid: float | None = None
) -> go.Figure:
    """Draw the first axis horizontally and the second vertically.

    Values above and below `mid` have a colour each.
    """
    columns, rows = list(dict.fromkeys(frame["x"])), list(dict.fromkeys(frame["y"]))
    means = frame.pivot(index="y", columns="x", values="mean").reindex(index=rows, columns=columns)
    told = [
        f"{show_number(row.mean, decimals)} (SD {show_number(row.sd, decimals)}, n = {row.num_seeds})"
        for row in frame.itertuples()
    ]
    hover = frame.assign(told=told).pivot(index="y", columns="x", values="told")
    # Above the map: beside it there would be no room for the fields' own numbers.
    bar = {
        "orientation": "h", "thickness": 8, "x": 0, "xanchor": "left", "len": 0.9, "y": 1.02, "yanchor": "bottom",
    }  # fmt: skip
    figure = go.Figure(
        go.Heatmap(
            z=means.to_numpy(), x=columns, y=rows, colorscale=PALE if mid is None else DIVERGING, zmid=mid, xgap=2,
            ygap=2, texttemplate=f"%{{z:.{decimals}f}}", textfont={"color": style.INK}, hoverongaps=False,
            text=hover.reindex(index=rows, columns=columns).to_numpy(), hovertemplate="%{text}<extra></extra>",
            colorbar=bar | {"title": {"text": style.label_text(label, 44), "side": "top", "font": {"size": 13}}},
        )
    )  # fmt: skip
    title = style.label_text(headings[0], 40)
    figure.update_xaxes(title=title, type="category", ticks="", tickangle=tick_angle(columns))
    figure.update_yaxes(title=style.label_text(headings[1], 40), type="category", ticks="")
    return style.plain(figure, height=220 + 46 * len(rows))
