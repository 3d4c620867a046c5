"""A grid along a numeric axis: a line of means per setting of the other axes."""

from numbers import Real
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.scales import AxisScale, positions, scale_of, x_axis
from analysis.figures.style import GREY, SEED_COLOURS, SEED_SYMBOLS, label_text, plain
from analysis.formats import show_value
from rse_study.results.study_record import AxisRecord

MAX_LINES, LEAST_VALUES = 6, 3
COLUMNS = ["series", "x", "seed", "value", "mean"]


def lines_data(contents: Contents, axis: AxisRecord) -> pd.DataFrame:
    """Return series, x, seed, value, mean (over seeds) of complete combinations.

    Empty where the axis is not numeric or has fewer than 3 values, or where the other axes make too many lines. Named
    rows are left out, as they may differ in more than axes.
    """
    cells = contents.stage("grid")
    cells = cells[(cells["label"] == "") & (cells["status"] == "complete") & cells["objective"].notna()]
    headings = dict(zip((a.name for a in contents.study.axes), contents.study.headings, strict=True))
    rows = [
        (series_name(proposal, axis, headings), proposal.get(axis.name), seed, value)
        for proposal, seed, value in zip(cells["proposal"], cells["seed"], cells["objective"], strict=True)
    ]
    frame = pd.DataFrame(rows, columns=COLUMNS[:-1])
    if (
        not all(is_number(x) for x in frame["x"])
        or frame["x"].nunique() < LEAST_VALUES
        or frame["series"].nunique() > MAX_LINES
    ):
        return pd.DataFrame(columns=COLUMNS)
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
        name = label_text(str(series)) if series else "mean of the seeds"
        add_series(figure, part, scale, number, decimals, of_seeds=None if series else GREY, name=name)
    figure.update_xaxes(title=label_text(heading, 40), **x_axis(frame["x"], scale))
    figure.update_yaxes(title=label_text(label, 34), nticks=6)
    return plain(figure, height=320)


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
    colour, symbol = (cycle[number % len(cycle)] for cycle in (SEED_COLOURS, SEED_SYMBOLS))
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
