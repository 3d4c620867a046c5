"""Where a search stopped its trials: at each rung who went on and who did not."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, GREY, INK, ORANGE, label_text, legend_below, plain
from analysis.formats import show_number
from rse_study.results.rung_fidelity import unstoppable

COLUMNS = ["trial", "t", "value", "verdict", "order"]
WIDTH = 0.8  # of a rung's column, where columns lie 1 apart
LET_RUN = "let run"
MARKS = {
    "continue": ("went on", "circle", BLUE),
    "stop": ("stopped", "x-thin-open", ORANGE),
    LET_RUN: ("would have been stopped, and was let run on", "circle-open", ORANGE),
}
"""By what became of a trial at a rung."""


def rungs_data(contents: Contents) -> pd.DataFrame:
    """Return a row per verdict: trial, t, value, verdict, order.

    The order is that of the trials, from 0 for the first to 1 for the last of the search: a later trial is measured
    against more others. Verdicts without a number are left out. `let run` stands for the verdict to stop a trial that
    no verdict could stop.
    """
    frame = contents.rungs[["trial", "t", "value", "verdict"]].dropna(subset="value")
    free = frame["trial"].isin(list(unstoppable(contents.study, set(frame["trial"]))))
    frame = frame.assign(verdict=frame["verdict"].mask(free & (frame["verdict"] == "stop"), LET_RUN))
    num = max(1, int(contents.stage("search")["trial"].max()) if len(contents.stage("search")) else 1)
    return (
        frame.sort_values(["t", "trial"]).assign(order=frame["trial"] / num)[COLUMNS].reset_index(drop=True)
    )


def draw_rungs(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw a column per rung, the first trial at its left.

    A dot for each trial that got there.

    Parameters
    ----------
    frame
        By `rungs_data`.
    label
        What the objective is called.
    decimals
        Of its values.
    """
    figure, steps = go.Figure(), sorted(frame["t"].unique())
    column = {t: place for place, t in enumerate(steps)}
    for verdict, (name, symbol, colour) in MARKS.items():
        part = frame[frame["verdict"] == verdict]
        if verdict == LET_RUN and part.empty:
            continue
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
    """Return what stands below each column: its step and how many went on."""
    names = []
    for t in steps:
        verdicts = frame.loc[frame["t"] == t, "verdict"]
        names.append(f"step {t}<br>{(verdicts != 'stop').sum()} of {len(verdicts)}<br>went on")
    return names


def dot_size(num: int) -> int:
    """Small where there are many."""
    return 9 if num <= 60 else 6 if num <= 400 else 4
