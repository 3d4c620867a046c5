"""A value over training steps: lines of cells, and means with a band."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import label_text


def points_of(cells: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Return the cells' columns with t and value: a row per point of a cell."""
    return cells.merge(points[["cell", "t", "value"]], left_on="identity", right_on="cell")


def add_lines(
    figure: go.Figure,
    frame: pd.DataFrame,
    by: str,
    value: str = "value",
    shown: str = "customdata",
    **look: Any,
) -> None:
    """Add a line per entry of column `by`, in one trace with gaps.

    `shown` is the property of the trace that holds the entries, as hover text reads it.
    """
    lines = pd.factorize(frame[by])[0]
    frame = frame.iloc[np.argsort(lines, kind="stable")]
    ends = np.cumsum(np.bincount(lines))  # where a line's gap stands
    xs, ys = (np.insert(frame[name].to_numpy(float), ends, np.nan) for name in ("t", value))
    entries = frame[by].to_numpy(object)
    entries = np.insert(entries, ends, entries[ends - 1]).tolist()
    figure.add_scatter(x=xs, y=ys, connectgaps=False, **{"mode": "lines", shown: entries} | look)


def add_band(figure: go.Figure, means: pd.DataFrame, series: str, colour: str, opacity: float) -> None:
    """Add the area between the columns low and high."""
    figure.add_scatter(
        x=[*means["t"], *means["t"][::-1]], y=[*means["high"], *means["low"][::-1]], mode="lines", fill="toself",
        fillcolor=colour, opacity=opacity, line={"width": 0}, hoverinfo="skip", showlegend=False, legendgroup=series,
    )  # fmt: skip


def add_mean(figure: go.Figure, means: pd.DataFrame, series: str, num: str, digits: str, **look: Any) -> None:
    """Add the line of column mean; column `num` says of how many it is."""
    figure.add_scatter(
        x=means["t"], y=means["mean"], legendgroup=series, customdata=means[num],
        hovertemplate=f"{label_text(series, 40)}, step %{{x}}: %{{y:{digits}}}, mean of %{{customdata}}<extra></extra>",
        **look,
    )  # fmt: skip
