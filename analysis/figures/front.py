"""The trials of a search by two of its objectives, and the front's hypervolume."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE
from analysis.figures.style import BLUE, FAINT, GREY, INK, ORANGE, add_views, label_text, legend_below, plain
from analysis.formats import show_number
from rse_study.results.records import Direction

MARKERS = {
    "out of bounds": (FAINT, "x-thin-open"),
    "beaten": (BLUE, "circle"),
    "front": (ORANGE, "circle"),
    "knee": (ORANGE, "star"),
}
NAMED = ("front", "knee", BASE)  # dots with the number of their trial


def draw_front(
    frame: pd.DataFrame, labels: list[str], directions: Sequence[Direction], decimals: list[int]
) -> go.Figure:
    """Draw a dot per complete trial, two objectives at a time."""
    figure, views = go.Figure(), list(combinations(range(len(labels)), 2))
    texts = [hover(row, labels, decimals) for row in frame.to_dict("records")]
    shown = frame.assign(text=texts)
    for number, (up, across) in enumerate(views):
        add_view(figure, shown, labels[across], labels[up], number)
        if len(labels) == 2:
            add_line(figure, shown, labels[across], labels[up])
    better = ["higher" if direction == "maximize" else "lower" for direction in directions]
    names = [f"{label} ({way} is better)" for label, way in zip(labels, better, strict=True)]
    titles = [
        {"xaxis.title.text": label_text(names[across], 40), "yaxis.title.text": label_text(names[up], 30)}
        for up, across in views
    ]
    figure.update_layout(titles[0]).update_xaxes(nticks=6).update_yaxes(nticks=7)
    pairs = {number: f"{labels[up]} and {labels[across]}" for number, (up, across) in enumerate(views)}
    return legend_below(plain(add_views(figure, pairs, titles), height=460))


def add_view(figure: go.Figure, frame: pd.DataFrame, across: str, up: str, number: int) -> None:
    """Add the dots of one pair of objectives."""
    parts = {
        role: (frame[(frame["role"] == role) & ~frame["is_base"]], *look) for role, look in MARKERS.items()
    }
    parts[BASE] = (frame[frame["is_base"]], INK, "diamond-open")
    for name, (part, colour, symbol) in parts.items():
        if len(part):
            figure.add_scatter(
                x=part[across], y=part[up], name=name, hovertext=part["text"], meta=number, ids=part["trial"],
                mode="markers+text" if name in NAMED else "markers", text=part["trial"], textposition="top center",
                hovertemplate="%{hovertext}<extra></extra>", cliponaxis=False,
                marker={"color": colour, "symbol": symbol, "size": 14 if symbol == "star" else 10,
                        "line": {"width": 1.8 if "open" in symbol else 0.5, "color": colour}},
            )  # fmt: skip


def add_line(figure: go.Figure, frame: pd.DataFrame, across: str, up: str) -> None:
    """Add the line through the front."""
    members = frame[frame["role"].isin(["knee", "front"])].sort_values(across)
    figure.add_scatter(
        x=members[across], y=members[up], mode="lines", name="Pareto front", hoverinfo="skip", meta=0,
        line={"color": ORANGE, "width": 1.5, "dash": "dot"},
    )  # fmt: skip


def hover(row: dict[str, Any], labels: list[str], decimals: list[int]) -> str:
    """Return a trial's hover text: number, role and all objectives."""
    values = [
        f"{label}: {show_number(row[label], places)}" for label, places in zip(labels, decimals, strict=True)
    ]
    return "<br>".join([f"trial {row['trial']}, {row['role']}", *values])


def draw_volume(frame: pd.DataFrame) -> go.Figure:
    """Draw the hypervolume after each complete trial."""
    figure = go.Figure()
    figure.add_scatter(
        x=frame["trial"], y=frame["hypervolume"], mode="lines+markers", name="hypervolume",
        line={"shape": "hv", "color": GREY, "width": 2}, marker={"color": BLUE, "size": 6},
        hovertemplate="after trial %{x}: %{y:.3f}<extra></extra>", showlegend=False,
    )  # fmt: skip
    figure.update_xaxes(title="trial", tickformat="d", nticks=20, tickangle=0)
    figure.update_yaxes(title="share of the box", rangemode="tozero", nticks=5)
    return plain(figure, height=300)
