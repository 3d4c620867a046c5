"""A small scatter per axis of the space: the objective against its values."""

import math

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import BLUE, ORANGE, label_text, plain
from rse_study.results.study_record import AxisRecord

SIZE = 9  # pixels of a dot
UNCROWDED = 300  # dots that a scatter shows apart


def slice_data(table: pd.DataFrame, heading: str) -> pd.DataFrame:
    """Return trial, value, objective, best of complete cells that have both values."""
    frame = table.loc[table["status"] == "complete", ["trial", heading, "objective", "best"]]
    return frame.set_axis(["trial", "value", "objective", "best"], axis=1).dropna().reset_index(drop=True)


def draw_slice(frame: pd.DataFrame, axis: AxisRecord, heading: str, decimals: int = 2) -> go.Figure:
    """Draw a scatter on the scale of the search."""
    figure = go.Figure()
    best = frame["best"].astype(bool)
    marker = {"size": SIZE, "color": np.where(best, ORANGE, BLUE)}
    if len(frame) > UNCROWDED:  # smaller, fainter dots show where many lie
        crowd = len(frame) / UNCROWDED
        marker |= {"size": np.where(best, SIZE, max(3.0, SIZE / math.sqrt(crowd)))}
        marker |= {"opacity": np.where(best, 1.0, max(0.3, 1 / crowd))}
    values = [str(value) for value in frame["value"]] if axis.kind == "choice" else frame["value"]
    figure.add_scatter(
        x=values, y=frame["objective"], customdata=frame["trial"], mode="markers+text", showlegend=False,
        text=[f"{trial}" if best else "" for trial, best in zip(frame["trial"], frame["best"], strict=True)],
        textposition="top center", marker=marker, ids=frame["trial"],
        hovertemplate=f"trial %{{customdata}}<br>%{{x}}: %{{y:.{decimals}f}}<extra></extra>", cliponaxis=False,
    )  # fmt: skip
    figure.update_xaxes(title=label_text(heading, 40), **x_axis(axis))
    figure.update_yaxes(nticks=5)
    return plain(figure, height=230)


def x_axis(axis: AxisRecord) -> dict[str, object]:
    """Return plotly's settings: scale and searched range, or the order of choices."""
    if axis.kind == "choice":
        order = [str(choice) for choice in axis.choices]
        return {"type": "category", "categoryorder": "array", "categoryarray": order}
    assert axis.low is not None and axis.high is not None, f"{axis.name} has no bounds"
    if axis.log:
        low, high = math.log10(axis.low), math.log10(axis.high)
        ticks = {"exponentformat": "power", "dtick": 1 if high - low > 1 else "D2"}
        return {"type": "log", "range": widened(low, high), **ticks}
    return {"type": "linear", "range": widened(axis.low, axis.high), "nticks": 6}


def widened(low: float, high: float) -> list[float]:
    """Return a slightly wider range, so that dots at its ends are not cut."""
    margin = 0.04 * (high - low)
    return [low - margin, high + margin]
