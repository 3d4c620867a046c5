"""A metric over training steps by row: thin seeds, a thick mean and a band."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.figures.steps import add_band, add_lines, add_mean, points_of
from analysis.figures.style import FAINT, INK, SEED_COLOURS, chooser, label_text, legend_below, plain

COLUMNS = ["row", "seed", "t", "value", "mean", "low", "high", "num_seeds"]
MAX_CHOICES = 100  # of the rows that a reader may choose: each choice says which of all lines are seen
LEAST_STEPS = 3  # fewer make no curve
MAX_ROWS = len(SEED_COLOURS)
"""Rows with a colour each; if there are more, the reader chooses one."""


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
        return pd.DataFrame(columns=COLUMNS)
    groups = frame.groupby(["row", "t"])["value"]
    num, sd = groups.transform("count"), groups.transform("std").fillna(0.0)
    mean = groups.transform("mean").where(num == frame.groupby("row")["seed"].transform("nunique"))
    frame = frame.assign(mean=mean, low=mean - sd, high=mean + sd, num_seeds=num)
    order = {name: place for place, name in enumerate(dict.fromkeys(complete["name"]))}
    return frame.sort_values(["row", "seed", "t"], key=lambda c: c.map(order) if c.name == "row" else c)[
        COLUMNS
    ].reset_index(drop=True)


def draw_bands(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw up to six rows in colours; of more, all means faint and one chosen.

    Of many rows, the first 100 can be chosen.
    """
    figure, rows = go.Figure(), list(dict.fromkeys(frame["row"]))
    is_many = len(rows) > MAX_ROWS
    if is_many:
        add_all_means(figure, frame, decimals)
    num_fixed = len(figure.data)
    rows, parts = rows[:MAX_CHOICES], dict(iter(frame.groupby("row", sort=False)))
    for number, row in enumerate(rows):
        colour = SEED_COLOURS[0] if is_many else SEED_COLOURS[number]
        add_row(figure, parts[row], colour, decimals)
    owner = [None] * num_fixed + [trace.legendgroup for trace in figure.data[num_fixed:]]
    figure.update_xaxes(title="step", rangemode="tozero")
    figure.update_yaxes(title=label_text(label, 34), nticks=7)
    legend_below(plain(figure, height=430))
    if is_many:
        visible = {row: [one in (None, str(row)) for one in owner] for row in rows}
        figure.for_each_trace(lambda trace: trace.update(visible=trace.legendgroup in (None, str(rows[0]))))
        buttons = [
            {"label": str(row), "method": "restyle", "args": [{"visible": visible[row]}]} for row in rows
        ]
        figure.update_layout(updatemenus=[chooser(buttons)])
    return figure


def add_row(figure: go.Figure, part: pd.DataFrame, colour: str, decimals: int) -> None:
    """Add the band, seeds and mean of a row; the legend toggles all three."""
    name = str(part["row"].iloc[0])
    shown = label_text(name, 40)
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
    means = pd.concat(parts).assign(row=lambda rows: rows["row"].map(lambda row: label_text(str(row), 40)))
    add_lines(
        figure, means, "row", "mean", "text", name="means of all rows", line={"color": FAINT, "width": 1},
        hoverlabel={"font": {"color": INK}},
        hovertemplate=f"%{{text}}, step %{{x}}: %{{y:.{decimals}f}}<extra></extra>",
    )  # fmt: skip


def means_of(part: pd.DataFrame) -> pd.DataFrame:
    """Return the steps of a row that have a mean, once each."""
    return part.dropna(subset="mean").drop_duplicates("t").sort_values("t")
