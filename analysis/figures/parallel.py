"""All axes of a search at once, one below the other, with a line per trial."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE
from analysis.figures.rulers import Ruler
from analysis.figures.style import BLUE, FAINT, GREY, GROUND, INK, ORANGE, label_text, legend_below, plain
from analysis.formats import show_number

ROW = 62  # pixels between two axes
MARGIN = 0.07  # share of an axis' length on either side, for half a tick's text
LINES = {
    "lower half": {"color": FAINT, "width": 1},
    "better half": {"color": "#7fb2ea", "width": 1.2},
    "best tenth": {"color": BLUE, "width": 1.8},
    BASE: {"color": INK, "width": 2.5, "dash": "dash"},
    "best": {"color": ORANGE, "width": 3},
}
"""Styles of the groups of trials by rank, from back to front."""
MOST_LINES = 250  # of a group; more are a block of one colour


def parallel_data(positions: pd.DataFrame, direction: str) -> pd.DataFrame:
    """Return `rulers.positions_data` with the rank and group of each trial.

    Rank 1 is the best; groups are best, base, best tenth, better half, lower half.
    """
    ranks = positions.drop_duplicates("trial").set_index("trial")["objective"]
    ranks = ranks.rank(method="first", ascending=direction == "minimize")
    rank = positions["trial"].map(ranks)
    share = rank / max(1, len(ranks))
    group = np.select(
        [positions["best"].astype(bool), positions["is_base"].astype(bool), share <= 0.1, share <= 0.5],
        ["best", BASE, "best tenth", "better half"],
        "lower half",
    )
    return positions.assign(rank=rank.astype(int), group=group)


def draw_parallel(frame: pd.DataFrame, rulers: Sequence[Ruler], label: str, decimals: int = 2) -> go.Figure:
    """Draw one axis below the other, the objective last, and a line per trial."""
    scores = frame["objective"]
    objective = Ruler(label, float(scores.min()), float(scores.max()))
    everything, figure = [*rulers, objective], go.Figure()
    with_dots = {"mode": "lines+markers", "marker": {"size": 5}}
    style = with_dots if any(ruler.is_conditional for ruler in rulers) else {"mode": "lines"}
    rows = {ruler.heading: place for place, ruler in enumerate(rulers)}
    for group, line in LINES.items():
        part = frame[frame["group"] == group]
        if len(part):
            drawn, counted = thinned(part)
            xs, ys, texts = polylines(drawn, rows, objective, decimals)
            figure.add_scatter(
                x=xs, y=ys, text=texts, name=f"{group} ({counted})", line=line,
                connectgaps=False, hovertemplate="%{text}<extra></extra>", **style,
            )  # fmt: skip
    for place, ruler in enumerate(everything):
        add_ruler(figure, ruler, place)
    figure.update_xaxes(range=[-MARGIN, 1 + MARGIN], visible=False, fixedrange=True)
    figure.update_yaxes(
        range=[len(everything) - 0.4, -0.5], showgrid=False, fixedrange=True,
        tickvals=list(range(len(everything))), ticktext=[label_text(one.heading, 13) for one in everything],
    )  # fmt: skip
    return legend_below(plain(figure, height=96 + ROW * len(everything)))


def thinned(group: pd.DataFrame) -> tuple[pd.DataFrame, str]:
    """Return at most MOST_LINES trials of a group, and a text of how many it has."""
    number = group["trial"].nunique()
    every = -(-number // MOST_LINES)
    place = group["rank"].rank(method="dense") - 1
    return group[place % every == 0], f"{number}" if every == 1 else f"{number}, one in {every} drawn"


def polylines(
    part: pd.DataFrame, rows: dict[str, int], objective: Ruler, decimals: int
) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return positions, rows and hover texts of all lines, with a gap after each."""
    lines: dict[int, tuple[float, list[tuple[str, float, str]]]] = {}
    columns = [part[name] for name in ("trial", "objective", "axis", "position", "text")]
    for trial, score, *point in zip(*columns, strict=True):
        lines.setdefault(trial, (score, []))[1].append(tuple(point))
    xs: list[float] = []
    ys: list[int] = []
    texts: list[str] = []
    for trial, (score, points) in lines.items():
        shown = show_number(score, decimals)
        xs += [*(position for _, position, _ in points), objective.position(score), np.nan]
        ys += [*(rows[axis] for axis, _, _ in points), len(rows), len(rows)]
        texts += [
            f"trial {trial}: {label_text(axis, 40)} = {label_text(text, 30)}<br>{shown}"
            for axis, _, text in points
        ]
        texts += [f"trial {trial}: {shown}", ""]
    return np.array(xs, dtype=np.float32), np.array(ys, dtype=np.int16), texts


def add_ruler(figure: go.Figure, ruler: Ruler, row: int) -> None:
    """Add an axis as a line with its ticks below; row 0 is at the top."""
    figure.add_shape(type="line", x0=0, x1=1, y0=row, y1=row, line={"color": GREY, "width": 1}, layer="above")
    for position, text in ruler.ticks():
        if -MARGIN <= position <= 1 + MARGIN:
            figure.add_annotation(
                x=position, y=row, text=label_text(text, 12), showarrow=False, yanchor="top", yshift=-2,
                font={"size": 11, "color": INK}, bgcolor=GROUND, borderpad=0,
            )  # fmt: skip
