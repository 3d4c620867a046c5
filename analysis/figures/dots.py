"""Scores of rows: a dot per seed, a bar at the mean, a diamond per baseline."""

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import (
    FAINT,
    GREY,
    INK,
    SEED_COLOURS,
    SEED_SYMBOLS,
    label_text,
    plain,
    row_ticks,
    rows_height,
)
from analysis.formats import show_number
from analysis.scores import summarise

SYMBOLS = SEED_SYMBOLS[:-1]
"""One symbol fewer than colours, so that 30 seeds all look different."""


def dots_data(scores: pd.DataFrame, measure: str) -> pd.DataFrame:
    """Return the scores of one measure with their means.

    Columns: position, row, kind, seed, value, mean. Rows without a value are left out.
    """
    frame = scores[(scores["measure"] == measure) & scores["value"].notna()]
    means = summarise(frame).set_index("position")["mean"]
    columns = ["position", "row", "kind", "seed", "value"]
    return frame[columns].assign(mean=frame["position"].map(means)).reset_index(drop=True)


def draw_dots(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw one line per row, the first on top; paired seeds share their look."""
    figure = go.Figure()
    rows = frame.drop_duplicates("position").sort_values("position")
    ticks = row_ticks(list(rows["row"]))
    height = dict(zip(rows["position"], range(len(rows)), strict=True))
    add_baselines(figure, frame[frame["kind"] == "baseline"], height, decimals)
    seeded = frame[frame["kind"] != "baseline"]
    for number, (seed, part) in enumerate(seeded.groupby("seed")):
        colour, symbol = (cycle[number % len(cycle)] for cycle in (SEED_COLOURS, SYMBOLS))
        figure.add_scatter(
            x=part["value"], y=part["position"].map(height), mode="markers", name=f"seed {seed}",
            marker={"size": 10, "color": colour, "symbol": symbol, "opacity": 0.85},
            hovertemplate=f"%{{x:.{decimals}f}}, seed {seed}<extra></extra>",
        )  # fmt: skip
    add_means(figure, seeded.drop_duplicates("position"), height, decimals)
    figure.update_xaxes(title=label_text(label, 22), nticks=6)
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=ticks, range=[len(rows) - 0.4, -0.6], gridcolor="#eaeef2"
    )
    figure.update_layout(legend={"itemsizing": "constant"})
    legend = 20 * -(-len(figure.data) // 2)  # pixels: two seeds in a line of a telephone
    return plain(figure, height=110 + legend + rows_height(ticks, 30))


def add_means(figure: go.Figure, rows: pd.DataFrame, height: dict[int, int], decimals: int) -> None:
    """Add a tall bar at every row's mean."""
    figure.add_scatter(
        x=rows["mean"], y=rows["position"].map(height), mode="markers", name="mean",
        marker={"symbol": "line-ns", "size": 22, "line": {"width": 3, "color": INK}, "color": INK},
        hovertemplate=f"mean %{{x:.{decimals}f}}<extra></extra>",
    )  # fmt: skip


def add_baselines(figure: go.Figure, rows: pd.DataFrame, height: dict[int, int], decimals: int) -> None:
    """Add a hollow diamond per baseline, and a thin line across the figure."""
    if rows.empty:
        return
    for value in rows["value"]:
        figure.add_vline(x=value, line={"color": FAINT, "width": 1, "dash": "dot"}, layer="below")
    figure.add_scatter(
        x=rows["value"], y=rows["position"].map(height), mode="markers", name="baseline",
        text=[show_number(value, decimals) for value in rows["value"]], hovertemplate="%{text}<extra></extra>",
        marker={"symbol": "diamond-open", "size": 11, "color": GREY, "line": {"width": 2}},
    )  # fmt: skip
