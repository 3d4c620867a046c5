"""Scores over training steps: of trials, of cells, and of the rows of a grid."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures import style
from analysis.formats import decimals_of

LINES = {
    "other": ("other trials", {"color": style.FAINT, "width": 1.2}),
    "base": ("base", {"color": style.BLUE, "width": 2.5, "dash": "dash"}),
    "best base": ("best complete trial: the base", {"color": style.ORANGE, "width": 3}),
    "best": ("best complete trial", {"color": style.ORANGE, "width": 3}),
}
ENDS = {"stopped_early": ("stopped early", "circle-open"), "failed": ("failed", "x-thin-open")}
MAX_COLOURS = len(style.SEED_COLOURS)
COURSE_COLUMNS = ["series", "seed", "t", "value", "is_base"]
BANDS_COLUMNS = ["row", "seed", "t", "value", "mean", "low", "high", "num_seeds"]
MAX_CHOICES = 100  # of the rows that a reader may choose: each choice says which of all lines are seen
LEAST_STEPS = 3  # fewer make no curve
MAX_ROWS = len(style.SEED_COLOURS)
"""Rows with a colour each; if there are more, the reader chooses one."""


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
        hovertemplate=f"{style.label_text(series, 40)}, step %{{x}}: %{{y:{digits}}}, "
        "mean of %{customdata}<extra></extra>", **look,
    )  # fmt: skip


def curve_data(table: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Return every point of the objective, by trial and t.

    Columns: trial, t, value, status, role (best, base, best base, other), is_end.
    """
    roles = [
        " ".join(["best"] * best + ["base"] * (label == BASE)) or "other"
        for best, label in table[["best", "label"]].values
    ]
    frame = points_of(table[["identity", "trial", "status"]].assign(role=roles), curves)
    frame = frame.dropna(subset="value").sort_values(["trial", "t"]).reset_index(drop=True)
    is_end = ~frame.duplicated("identity", keep="last")
    return frame[["trial", "t", "value", "status", "role"]].assign(is_end=is_end)


def draw_curves(frame: pd.DataFrame, rungs: Sequence[int], label: str, decimals: int = 2) -> go.Figure:
    """Draw a line per trial, with hollow ends if stopped; vertical lines mark rungs."""
    figure = go.Figure()
    for rung in rungs:
        figure.add_vline(x=rung, line={"color": style.GREY, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=rung, y=1, yref="paper", xanchor="right", yanchor="top", text=f"rung {rung}", textangle=-90,
            showarrow=False, font={"size": 11, "color": style.GREY},
        )  # fmt: skip
    for role, (name, line) in LINES.items():
        part = frame[frame["role"] == role]
        if len(part):
            hover = f"trial %{{customdata}}, step %{{x}}: %{{y:.{decimals}f}}<extra></extra>"
            add_lines(figure, part, "trial", name=name, line=line, hovertemplate=hover)
    for status, (name, symbol) in ENDS.items():
        part = frame[frame["is_end"] & (frame["status"] == status)]
        if len(part):
            figure.add_scatter(
                x=part["t"], y=part["value"], name=name, mode="markers", hoverinfo="skip",
                marker={"symbol": symbol, "size": 8, "color": style.GREY, "line": {"width": 2}},
            )  # fmt: skip
    last = 1.0 if frame.empty else float(frame["t"].max())
    figure.update_xaxes(title="step", range=[0, 1.03 * last])
    figure.update_yaxes(title=style.label_text(label, 18))
    return style.plain(figure, height=440)


def course_data(contents: Contents, metric: str) -> pd.DataFrame:
    """Return every point of a metric: series, seed, t, value, is_base.

    A series is a trial of the newest revision. Seeds are not averaged, because a mean would change where a cell ended
    early.
    """
    points = contents.course[contents.course["name"] == metric].dropna(subset="value")
    cells = contents.current.loc[
        contents.current["stage"] != "path", ["identity", "trial", "seed", "name", "label"]
    ]
    frame = points_of(cells, points)
    prefix = "trial " if contents.study.kind == "search" else ""
    frame = frame.sort_values(["trial", "seed", "t"]).assign(
        series=prefix + frame["name"].astype(str), is_base=frame["label"] == "base"
    )
    return frame[COURSE_COLUMNS].reset_index(drop=True)


def draw_course(frame: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a line per cell: few trials in colours, many faint but the base."""
    figure, are_few = go.Figure(), frame["series"].nunique() <= MAX_COLOURS
    # What stands out is drawn last: nothing covers it.
    for number, (series, part) in sorted(
        enumerate(frame.groupby("series", sort=False)), key=lambda one: bool(one[1][1]["is_base"].any())
    ):
        is_base = bool(part["is_base"].any())
        colour = (
            style.SEED_COLOURS[number % MAX_COLOURS] if are_few else style.BLUE if is_base else style.FAINT
        )
        add_lines(
            figure, part, "seed", name=style.label_text(str(series), 36), mode="lines+markers" if are_few else "lines",
            line={"color": colour, "width": 2 if are_few or is_base else 1.2}, marker={"size": 4},
            showlegend=are_few or is_base,
            hovertemplate=f"{style.label_text(str(series))}, seed %{{customdata}}, step %{{x}}: "
            f"%{{y:.{decimals_of(metric, fine=4)}f}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="step", rangemode="tozero", tickfont={"color": style.GREY})
    figure.update_yaxes(title=style.label_text(metric, 34), nticks=6)
    return style.plain(figure, height=320)


def bands_data(cells: pd.DataFrame, points: pd.DataFrame) -> pd.DataFrame:
    """Return every point of complete cells with the mean of its row's seeds.

    Columns: row, seed, t, value; mean, low, high (mean ± one standard deviation, dividing by n - 1), num_seeds. The
    mean is NaN at steps that some complete seed of the row lacks, so that it covers the same seeds at every step.
    Empty below 3 steps, which make no curve.
    """
    complete = cells.loc[cells["status"] == "complete", ["identity", "name", "seed"]]
    frame = points_of(complete, points)
    frame = frame[np.isfinite(frame["value"].astype(float))].rename(columns={"name": "row"})
    if frame["t"].nunique() < LEAST_STEPS:
        return pd.DataFrame(columns=BANDS_COLUMNS)
    groups = frame.groupby(["row", "t"])["value"]
    num, sd = groups.transform("count"), groups.transform("std").fillna(0.0)
    mean = groups.transform("mean").where(num == frame.groupby("row")["seed"].transform("nunique"))
    frame = frame.assign(mean=mean, low=mean - sd, high=mean + sd, num_seeds=num)
    order = {name: place for place, name in enumerate(dict.fromkeys(complete["name"]))}
    return frame.sort_values(["row", "seed", "t"], key=lambda c: c.map(order) if c.name == "row" else c)[
        BANDS_COLUMNS
    ].reset_index(drop=True)


def draw_bands(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw up to six rows in colours; of more, all means faint and one chosen.

    Of many rows, the first 100 can be chosen.
    """
    figure, rows = go.Figure(), list(dict.fromkeys(frame["row"]))
    is_many = len(rows) > MAX_ROWS
    if is_many:
        add_all_means(figure, frame, decimals)
    rows, parts = rows[:MAX_CHOICES], dict(iter(frame.groupby("row", sort=False)))
    for number, row in enumerate(rows):
        colour = style.SEED_COLOURS[0] if is_many else style.SEED_COLOURS[number]
        add_row(figure, parts[row], colour, decimals)
    figure.update_xaxes(title="step", rangemode="tozero")
    figure.update_yaxes(title=style.label_text(label, 34), nticks=7)
    style.legend_below(style.plain(figure, height=430))
    if is_many:
        figure.for_each_trace(lambda trace: trace.update(meta=trace.legendgroup))
        style.add_views(figure, {str(row): str(row) for row in rows}, [{} for _ in rows])
    return figure


def add_row(figure: go.Figure, part: pd.DataFrame, colour: str, decimals: int) -> None:
    """Add the band, seeds and mean of a row; the legend toggles all three."""
    name = str(part["row"].iloc[0])
    shown = style.label_text(name, 40)
    means = means_of(part)
    if len(means) and (means["num_seeds"] > 1).any():
        add_band(figure, means, name, colour, 0.16)
        add_lines(
            figure, part, "seed", line={"color": colour, "width": 1}, opacity=0.5, legendgroup=name, showlegend=False,
            hovertemplate=f"{shown}, seed %{{customdata}}, step %{{x}}: %{{y:.{decimals}f}}<extra></extra>",
        )  # fmt: skip
    add_mean(
        figure, means, name, "num_seeds", f".{decimals}f", name=shown, mode="lines+markers",
        line={"color": colour, "width": 2.5}, marker={"size": 5, "color": colour},
    )  # fmt: skip


def add_all_means(figure: go.Figure, frame: pd.DataFrame, decimals: int) -> None:
    """Add the means of all rows as one faint trace."""
    parts = [means_of(part) for _, part in frame.groupby("row", sort=False)]
    means = pd.concat(parts).assign(
        row=lambda rows: rows["row"].map(lambda row: style.label_text(str(row), 40))
    )
    add_lines(
        figure, means, "row", "mean", "text", name="means of all rows", line={"color": style.FAINT, "width": 1},
        hoverlabel={"font": {"color": style.INK}},
        hovertemplate=f"%{{text}}, step %{{x}}: %{{y:.{decimals}f}}<extra></extra>",
    )  # fmt: skip


def means_of(part: pd.DataFrame) -> pd.DataFrame:
    """Return the steps of a row that have a mean, once each."""
    return part.dropna(subset="mean").drop_duplicates("t").sort_values("t")
