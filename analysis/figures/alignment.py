"""Alignment against uniformity, as in figure 3 of RobustSentEmbed; less is better."""

from itertools import cycle

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import (
    BLUE,
    GREY,
    INK,
    ORANGE,
    SEED_COLOURS,
    SEED_SYMBOLS,
    label_text,
    legend_below,
    plain,
)
from analysis.paper.tables import read_table
from rse_study.results.records import BASELINES

PARTS = ("alignment", "uniformity")
COLUMNS = ["evaluation", "row", "kind", "seed", *PARTS]
FIGURE = "rse-figure3"
MAX_NAMED = 12  # rows with a colour and symbol of their own


def alignment_data(contents: Contents, cells: pd.DataFrame, figure: str = "") -> pd.DataFrame:
    """Return a row per row, seed and evaluation that has both numbers.

    Columns: evaluation, row, kind (row, baseline, paper), seed (only of rows), alignment, uniformity. The paper's
    numbers are included if `figure` is figure 3 of RobustSentEmbed.
    """
    rows = contents.evaluations[contents.evaluations["aggregation"].isin(PARTS)]
    keys = ["evaluation", "subject"]
    wide = rows.pivot_table(index=keys, columns="aggregation", values="value").reindex(columns=list(PARTS))
    wide = wide.dropna().reset_index()
    complete = cells[cells["status"] == "complete"].set_index("identity")
    own = wide[wide["subject"].isin(complete.index)]
    own = own.assign(
        row=own["subject"].map(complete["name"]), seed=own["subject"].map(complete["seed"]), kind="row"
    )
    fixed = wide[wide["subject"].isin(BASELINES)]
    fixed = fixed.assign(row=fixed["subject"].map(BASELINES), seed=pd.NA, kind="baseline")
    frames = [frame for frame in (fixed, own, printed(wide, figure)) if len(frame)]
    return pd.concat(frames, ignore_index=True)[COLUMNS] if frames else pd.DataFrame(columns=COLUMNS)


def printed(wide: pd.DataFrame, figure: str) -> pd.DataFrame:
    """Return the paper's numbers once per evaluation; none for another figure."""
    if figure != FIGURE or wide.empty:
        return pd.DataFrame(columns=COLUMNS)
    table = read_table(FIGURE).pivot(index="row", columns="column", values="value").reset_index()
    frames = [
        table.assign(evaluation=name, kind="paper", seed=pd.NA) for name in dict.fromkeys(wide["evaluation"])
    ]
    return pd.concat(frames, ignore_index=True)[COLUMNS]


def draw_alignment(frame: pd.DataFrame) -> go.Figure:
    """Draw one evaluation: dots for seeds and means, hollow ones for baselines."""
    figure = go.Figure()
    own = frame[frame["kind"] == "row"]
    rows = list(dict.fromkeys(own["row"]))
    symbols = cycle(SEED_SYMBOLS[:-1])  # five symbols, six colours: 12 rows all differ
    looks = dict(zip(rows, zip(cycle(SEED_COLOURS), symbols, strict=False), strict=False))
    is_many = len(rows) > MAX_NAMED
    if len(own) > len(rows):
        figure.add_scatter(
            x=own["uniformity"], y=own["alignment"], mode="markers", name="seeds",
            marker={"size": 5, "color": GREY, "opacity": 0.6},
            customdata=own["seed"].astype(int), text=own["row"].map(hover_name),
            hovertemplate="%{text}, seed %{customdata}: %{y:.4f}, %{x:.3f}<extra></extra>",
        )  # fmt: skip
    if is_many:
        add_points(figure, own, "rows (mean)", (BLUE, "circle"))
    else:
        for row in rows:
            add_points(figure, own[own["row"] == row], row, looks[row])
    add_points(figure, frame[frame["kind"] == "baseline"], "baselines", (GREY, "diamond-open"))
    add_points(figure, frame[frame["kind"] == "paper"], "as the paper prints", (ORANGE, "star-open"))
    figure.update_xaxes(title="uniformity (less is better)", nticks=7, tickfont={"color": INK})
    figure.update_yaxes(title="alignment (less is better)", nticks=7)
    return legend_below(plain(figure, height=460))


def add_points(figure: go.Figure, part: pd.DataFrame, name: str, look: tuple[str, str]) -> None:
    """Add a point at the mean of each row, in one colour and symbol."""
    if part.empty:
        return
    means = part.groupby("row", sort=False)[list(PARTS)].mean()
    colour, symbol = look
    figure.add_scatter(
        x=means["uniformity"], y=means["alignment"], mode="markers", name=label_text(name, 40),
        text=[hover_name(row) for row in means.index], hovertemplate="%{text}: %{y:.4f}, %{x:.3f}<extra></extra>",
        marker={"size": 12, "color": colour, "symbol": symbol, "line": {"width": 2 if "open" in symbol else 0.5}},
    )  # fmt: skip


def hover_name(row: str) -> str:
    """Return a row's name in short lines."""
    return label_text(row, 40)
