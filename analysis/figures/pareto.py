"""Pareto fronts: of the objective against its cost, and of several objectives."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.cost import alone_seconds
from analysis.figures import style
from analysis.formats import show_number
from rse_study.results.records import Direction

COSTS = {"seconds": "training seconds of a cell", "steps": "optimiser steps of a cell"}
"""Names of the costs by column; the ledger has no count of operations."""
COLUMNS = ["row", "objective", "seconds", "steps", "num_cells", "status", "is_base"]
SHORT = 12  # characters of a name that is written beside its dot
FEW = 12  # dots up to which all have their names; of more those on the line
WIDE = 20.0  # ratio of costs from which the axis is logarithmic
MARKERS = {
    "out of bounds": (style.FAINT, "x-thin-open"),
    "beaten": (style.BLUE, "circle"),
    "front": (style.ORANGE, "circle"),
    "knee": (style.ORANGE, "star"),
}
NAMED = ("front", "knee", BASE)  # dots with the number of their trial


def pareto_data(contents: Contents) -> pd.DataFrame:
    """Return a row per scored trial of a search, or row of a grid.

    Columns: row, objective (mean over its complete cells), seconds (of training and scoring alone, times devices,
    mean), steps (mean), num_cells, status (complete; in a search also stopped_early), is_base.
    """
    cells, study = contents.stage(contents.study.kind), contents.study
    statuses = ["complete", "stopped_early"] if study.kind == "search" else ["complete"]
    cells = cells[cells["status"].isin(statuses) & cells["objective"].notna()]
    prefix = "trial " if study.kind == "search" else ""
    frame = cells.assign(
        row=prefix + cells["name"].astype(str),
        seconds=alone_seconds(contents),
        steps=cells["t"].astype(float),
        is_base=cells["label"] == BASE,
    )
    groups = frame.groupby(["row", "status", "is_base"], sort=False)
    means = groups.agg(
        objective=("objective", "mean"), seconds=("seconds", "mean"), steps=("steps", "mean"),
        num_cells=("identity", "count"),
    )  # fmt: skip
    return means.reset_index()[COLUMNS]


def front(costs: pd.Series, objective: pd.Series, is_less_better: bool = False) -> pd.Series:
    """Whether each entry is on the Pareto front of low cost and good objective."""
    gains = -objective if is_less_better else objective
    order = pd.DataFrame({"cost": costs, "gain": -gains}).sort_values(["cost", "gain"], kind="stable").index
    best_before = gains.loc[order].cummax().shift(fill_value=-np.inf)
    return (gains.loc[order] > best_before).reindex(costs.index)


def draw_pareto(
    frame: pd.DataFrame, label: str, decimals: int = 2, is_less_better: bool = False
) -> go.Figure:
    """Draw a point per trial or row and the Pareto front, by time or by steps."""
    figure = go.Figure()
    costs = [cost for cost in COSTS if frame.loc[frame["status"] == "complete", cost].gt(0).any()]
    for cost in costs:
        add_view(figure, frame[frame[cost] > 0], cost, decimals, is_less_better)
    figure.update_yaxes(title=style.label_text(label, 34), nticks=7)
    style.plain(figure, height=440)
    style.legend_below(figure)
    layouts = [axis_layout(cost, frame[cost]) for cost in costs]
    return style.add_views(figure, {cost: COSTS[cost] for cost in costs}, layouts)


def axis_layout(cost: str, values: pd.Series) -> Mapping[str, Any]:
    """Return plotly's settings of the cost axis: its title and scale."""
    positive = values[values > 0]
    is_wide = len(positive) > 0 and positive.max() / positive.min() >= WIDE
    return {
        "xaxis.title.text": COSTS[cost],
        "xaxis.type": "log" if is_wide else "linear",
        "xaxis.autorange": True,
        "xaxis.nticks": 6,
    }


def add_view(figure: go.Figure, frame: pd.DataFrame, cost: str, decimals: int, is_less_better: bool) -> None:
    """Add the points and the front for one kind of cost."""
    complete = frame[frame["status"] == "complete"]
    on_front = front(complete[cost], complete["objective"], is_less_better)
    line = complete[on_front].sort_values(cost)
    figure.add_scatter(
        x=line[cost], y=line["objective"], mode="lines", name="Pareto front", hoverinfo="skip", meta=cost,
        line={"shape": "hv", "color": style.ORANGE, "width": 2},
    )  # fmt: skip
    looks = {
        "stopped early": (frame[frame["status"] == "stopped_early"], style.FAINT, "circle-open"),
        "complete": (complete[~on_front & ~complete["is_base"]], style.BLUE, "circle"),
        "on the front": (line[~line["is_base"]], style.ORANGE, "circle"),
        BASE: (complete[complete["is_base"]], style.INK, "diamond-open"),
    }
    named = ("complete", "on the front") if len(frame) <= FEW else ("on the front",)
    for name, (part, colour, symbol) in looks.items():
        is_open = "open" in symbol
        if len(part):
            figure.add_scatter(
                x=part[cost], y=part["objective"], name=name, hovertext=hover(part, decimals), meta=cost,
                mode="markers+text" if name in named else "markers",
                text=part["row"].where(part["row"].str.len() <= SHORT, ""), ids=part["row"],
                textposition=name_places(part[cost], frame[cost]),
                hovertemplate="%{hovertext}<extra></extra>", cliponaxis=False,
                marker={"color": colour, "symbol": symbol, "size": 7 if len(frame) > 200 else 10,
                        "line": {"width": 1.5 if is_open else 0.5, "color": colour if is_open else style.GREY}},
            )  # fmt: skip


def name_places(costs: pd.Series, of_all: pd.Series) -> list[str]:
    """Return on which side of each dot its name has room: towards the middle."""
    shares = (costs - of_all.min()) / (of_all.max() - of_all.min() or 1)
    return [f"top {'right' if one < 0.2 else 'left' if one > 0.8 else 'center'}" for one in shares]


def hover(part: pd.DataFrame, decimals: int) -> list[str]:
    """Return the hover text of each point."""
    return [
        f"{style.label_text(row.row, 40)}: {show_number(row.objective, decimals)}<br>{row.seconds:.4g} s, "
        f"{row.steps:.0f} steps" + (f", mean of {row.num_cells} cells" if row.num_cells > 1 else "")
        for row in part.itertuples()
    ]


def draw_front(
    frame: pd.DataFrame, labels: list[str], directions: Sequence[Direction], decimals: list[int]
) -> go.Figure:
    """Draw a dot per complete trial, two objectives at a time."""
    figure, views = go.Figure(), list(combinations(range(len(labels)), 2))
    texts = [hover_of_objectives(row, labels, decimals) for row in frame.to_dict("records")]
    shown = frame.assign(text=texts)
    for number, (up, across) in enumerate(views):
        add_objectives(figure, shown, labels[across], labels[up], number)
        if len(labels) == 2:
            add_line(figure, shown, labels[across], labels[up])
    better = ["higher" if direction == "maximize" else "lower" for direction in directions]
    names = [f"{label} ({way} is better)" for label, way in zip(labels, better, strict=True)]
    titles = [
        {
            "xaxis.title.text": style.label_text(names[across], 40),
            "yaxis.title.text": style.label_text(names[up], 30),
        }
        for up, across in views
    ]
    figure.update_layout(titles[0]).update_xaxes(nticks=6).update_yaxes(nticks=7)
    pairs = {number: f"{labels[up]} and {labels[across]}" for number, (up, across) in enumerate(views)}
    return style.legend_below(style.plain(style.add_views(figure, pairs, titles), height=460))


def add_objectives(figure: go.Figure, frame: pd.DataFrame, across: str, up: str, number: int) -> None:
    """Add the dots of one pair of objectives."""
    parts = {
        role: (frame[(frame["role"] == role) & ~frame["is_base"]], *look) for role, look in MARKERS.items()
    }
    parts[BASE] = (frame[frame["is_base"]], style.INK, "diamond-open")
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
        line={"color": style.ORANGE, "width": 1.5, "dash": "dot"},
    )  # fmt: skip


def hover_of_objectives(row: dict[str, Any], labels: list[str], decimals: list[int]) -> str:
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
        line={"shape": "hv", "color": style.GREY, "width": 2}, marker={"color": style.BLUE, "size": 6},
        hovertemplate="after trial %{x}: %{y:.3f}<extra></extra>", showlegend=False,
    )  # fmt: skip
    figure.update_xaxes(title="trial", tickformat="d", nticks=20, tickangle=0)
    figure.update_yaxes(title="share of the box", rangemode="tozero", nticks=5)
    return style.plain(figure, height=300)
