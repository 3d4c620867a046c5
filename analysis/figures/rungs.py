"""The verdicts at rungs: which trials went on at each rung."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, GREY, INK, ORANGE, label_text, legend_below, plain
from analysis.formats import show_number

COLUMNS = ["trial", "t", "value", "verdict", "order"]
WIDTH = 0.8  # of a rung's column, where columns lie 1 apart
MARKS = {
    "continue": ("went on", "circle", BLUE),
    "stop": ("stopped", "x-thin-open", ORANGE),
}
"""Name, symbol and colour of each verdict."""


def rungs_data(contents: Contents) -> pd.DataFrame:
    """Return a row per verdict: trial, t, value, verdict, order.

    The order runs from 0 for the first trial to 1 for the last, as a later trial is measured against more others.
    Verdicts without a number are left out.
    """
    frame = contents.rungs[["trial", "t", "value", "verdict"]].dropna(subset="value")
    num = max(1, int(contents.stage("search")["trial"].max()) if len(contents.stage("search")) else 1)
    return (
        frame.sort_values(["t", "trial"]).assign(order=frame["trial"] / num)[COLUMNS].reset_index(drop=True)
    )


def draw_rungs(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw a column per rung with a dot for each trial that reached it, in order."""
    figure, steps = go.Figure(), sorted(frame["t"].unique())
    column = {t: place for place, t in enumerate(steps)}
    for verdict, (name, symbol, colour) in MARKS.items():
        part = frame[frame["verdict"] == verdict]
        texts = [
            f"trial {row.trial} {name} at step {row.t}: {show_number(row.value, decimals)}"
            for row in part.itertuples()
        ]
        figure.add_scatter(
            x=(part["t"].map(column) + WIDTH * (part["order"] - 0.5)).to_numpy(np.float32), y=part["value"],
            name=f"{name} ({len(part)})", mode="markers", text=texts, hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "color": colour, "size": dot_size(len(frame)),
                    "line": {"width": 1.8 if "open" in symbol else 0.5, "color": colour}},
        )  # fmt: skip
    for t in steps[1:]:
        figure.add_vline(x=column[t] - 0.5, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        tickvals=list(column.values()), ticktext=column_names(frame, steps), showgrid=False,
        range=[-0.5, len(steps) - 0.5], tickfont={"color": INK},
    )  # fmt: skip
    figure.update_yaxes(title=label_text(label, 34), nticks=7)
    return legend_below(plain(figure, height=430))


def column_names(frame: pd.DataFrame, steps: Sequence[int]) -> list[str]:
    """Return the label of each column: its step and how many trials went on."""
    names = []
    for t in steps:
        verdicts = frame.loc[frame["t"] == t, "verdict"]
        names.append(f"step {t}<br>{(verdicts != 'stop').sum()} of {len(verdicts)}<br>went on")
    return names


def dot_size(num: int) -> int:
    """Return the size of dots in pixels, smaller the more there are."""
    return 9 if num <= 60 else 6 if num <= 400 else 4
