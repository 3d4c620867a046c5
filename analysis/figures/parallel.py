"""Optuna's parallel coordinates laid down: one axis below the other."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE
from analysis.figures.searched import first_value, trials_of, visualization
from analysis.figures.style import BLUE, FAINT, GREY, GROUND, INK, ORANGE, label_text, legend_below, plain

if TYPE_CHECKING:
    from analysis.figures.searched import Study

ROW = 62  # pixels between two axes
LEAST_GAP = 0.4  # of an axis between two ticks, so that a telephone shows both
LINES = {
    "lower half": {"color": FAINT, "width": 1},
    "better half": {"color": "#7fb2ea", "width": 1.2},
    "best tenth": {"color": BLUE, "width": 1.8},
    BASE: {"color": INK, "width": 2.5, "dash": "dash"},
    "best": {"color": ORANGE, "width": 3},
}
"""Styles of the groups of trials by rank, from back to front."""


def draw_parallel(
    study: "Study", headings: Mapping[str, str], label: str, marked: Mapping[str, float], is_less_better: bool
) -> go.Figure:
    """Draw one axis below the other, the objective first, and a line per trial.

    `marked` has the scores of the best trial and of the base.
    """
    drawn = visualization().plot_parallel_coordinate(
        study, params=list(headings), target=first_value, target_name=label
    )
    values = sorted(first_value(one) for one in trials_of(study))
    lines = [one for one in drawn.data if one.customdata is not None]
    places = np.array([line.y[0] for line in lines])
    shares = pd.Series(places).rank(method="first", ascending=is_less_better).to_numpy() / len(lines)
    groups = np.select([shares <= 0.1, shares <= 0.5], ["best tenth", "better half"], "lower half").astype(
        object
    )
    for name, score in marked.items():
        at = (score - values[0]) / (values[-1] - values[0]) if values[-1] > values[0] else 0.5
        groups[np.flatnonzero(np.isclose(places, at, rtol=0, atol=1e-12))[:1]] = name
    figure = go.Figure()
    for group, look in LINES.items():
        members = [line for line, own in zip(lines, groups, strict=True) if own == group]
        if members:
            add_lines(figure, members, group, look)
    turn(figure, drawn, [headings.get(name, name) for name in drawn.layout.xaxis.ticktext])
    return legend_below(figure)


def add_lines(figure: go.Figure, members: Sequence[go.Scatter], group: str, look: Mapping[str, Any]) -> None:
    """Add the lines of a group as one trace with gaps."""
    xs: list[float] = []
    ys: list[float] = []
    texts: list[str] = []
    for line in members:
        xs += [*line.y, np.nan]
        ys += [*line.x, np.nan]
        texts += [*(f"{label_text(name, 40)}: {label_text(text, 30)}" for name, text in line.customdata), ""]
    figure.add_scatter(
        x=np.array(xs, np.float32), y=np.array(ys, np.float32), text=texts, name=f"{group} ({len(members)})", line=look,
        mode="lines", connectgaps=False, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def turn(figure: go.Figure, drawn: go.Figure, names: Sequence[str]) -> None:
    """Lay Optuna's upright axes down, one below the other: so they fit a narrow page."""
    for row in range(len(names)):
        figure.add_shape(type="line", x0=0, x1=1, y0=row, y1=row, line={"color": GREY, "width": 1})
    last = (-1, 0.0)
    for tick in drawn.layout.annotations:
        row, at = tick.x, tick.y
        if row == last[0] and (at - last[1] < LEAST_GAP or LEAST_GAP > 1 - at > 0):
            continue
        last = (row, at)
        figure.add_annotation(
            x=at, y=row, text=label_text(tick.text, 12), showarrow=False, yanchor="top", yshift=-2, borderpad=0,
            xanchor="left" if at == 0 else "right" if at == 1 else "center", font={"size": 11, "color": INK},
            bgcolor=GROUND,
        )  # fmt: skip
    ticks = {"tickvals": [*range(len(names))], "ticktext": [label_text(name, 13) for name in names]}
    figure.update_xaxes(range=[-0.07, 1.07], visible=False, fixedrange=True)
    figure.update_yaxes(range=[len(names) - 0.4, -0.5], showgrid=False, fixedrange=True, **ticks)
    plain(figure, height=96 + ROW * len(names))
