"""A score over training steps: a line per cell, one colour per trial."""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.steps import add_lines, points_of
from analysis.figures.style import BLUE, FAINT, GREY, SEED_COLOURS, label_text, plain
from analysis.formats import decimals_of

MAX_COLOURS = len(SEED_COLOURS)
COLUMNS = ["series", "seed", "t", "value", "is_base"]


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
    return frame[COLUMNS].reset_index(drop=True)


def draw_course(frame: pd.DataFrame, metric: str) -> go.Figure:
    """Draw a line per cell: few trials in colours, many faint but the base."""
    figure, are_few = go.Figure(), frame["series"].nunique() <= MAX_COLOURS
    # What stands out is drawn last: nothing covers it.
    for number, (series, part) in sorted(
        enumerate(frame.groupby("series", sort=False)), key=lambda one: bool(one[1][1]["is_base"].any())
    ):
        is_base = bool(part["is_base"].any())
        colour = SEED_COLOURS[number % MAX_COLOURS] if are_few else BLUE if is_base else FAINT
        add_lines(
            figure, part, "seed", name=label_text(str(series), 36), mode="lines+markers" if are_few else "lines",
            line={"color": colour, "width": 2 if are_few or is_base else 1.2}, marker={"size": 4},
            showlegend=are_few or is_base,
            hovertemplate=f"{label_text(str(series))}, seed %{{customdata}}, step %{{x}}: "
            f"%{{y:.{decimals_of(metric, fine=4)}f}}<extra></extra>",
        )  # fmt: skip
    figure.update_xaxes(title="step", rangemode="tozero", tickfont={"color": GREY})
    figure.update_yaxes(title=label_text(metric, 34), nticks=6)
    return plain(figure, height=320)
