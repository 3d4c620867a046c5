"""Mean cosines of positive and random pairs: collapse, as in figure 3 of DCL."""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, ORANGE, label_text, legend_below, plain, row_ticks, rows_height
from analysis.paper.tables import read_table

PAIRS = {"cosine/positive": "positive", "cosine/random": "random"}
"""Kinds of pairs by the metric's name in the ledger."""
COLOURS = {"positive": BLUE, "random": ORANGE}
COLUMNS = ["row", "pairs", "source", "seed", "value", "mean"]
FIGURE = "dcl-figure3"
OURS, THEIRS = "ours", "the paper's"


def cosines_data(contents: Contents) -> pd.DataFrame:
    """Return a row per row of the grid, kind of pairs and seed, then the paper's.

    Columns: row, pairs (positive, random), source (ours, the paper's), seed, value, mean. Only the last step of
    complete cells counts. The paper's rows stand apart, as it does not say how they map to ours beyond the
    normalisation. Empty where no cell reports cosines of its projections.
    """
    cells = contents.stage("grid")
    cells = cells[cells["status"] == "complete"]
    points = contents.diagnostics[contents.diagnostics["name"].isin(PAIRS)]
    last = points.sort_values("t").drop_duplicates(["cell", "name"], keep="last")
    frame = cells[["identity", "name", "trial", "seed"]].rename(columns={"name": "row"})
    frame = frame.merge(last, left_on="identity", right_on="cell").dropna(subset="value")
    if frame.empty:
        return pd.DataFrame(columns=COLUMNS)
    frame = frame.assign(pairs=frame["name"].map(PAIRS), source=OURS).sort_values(["trial", "seed", "pairs"])
    table = read_table(FIGURE).rename(columns={"column": "pairs"}).assign(source=THEIRS, seed=pd.NA)
    both = pd.concat([frame, table], ignore_index=True)
    mean = both.groupby(["source", "row", "pairs"])["value"].transform("mean")
    return both.assign(mean=mean)[COLUMNS]


def draw_cosines(frame: pd.DataFrame) -> go.Figure:
    """Draw two bars per row at the mean of its seeds; the paper's are hatched, below."""
    figure = go.Figure()
    rows = list(dict.fromkeys(zip(frame["source"], frame["row"], strict=True)))
    names = [row if source == OURS else f"paper: {row}" for source, row in rows]
    ticks = row_ticks(names, 16)
    place = dict(zip(rows, range(len(rows)), strict=True))
    for source, shape in ((OURS, ""), (THEIRS, "/")):
        for pairs, colour in COLOURS.items():
            part = frame[(frame["source"] == source) & (frame["pairs"] == pairs)]
            if part.empty:
                continue
            means = part.drop_duplicates("row")
            figure.add_bar(
                x=means["mean"], y=[place[source, row] for row in means["row"]], name=f"{pairs}, {source}",
                orientation="h", offsetgroup=pairs, text=[label_text(row, 40) for row in means["row"]],
                textposition="none", marker={"color": colour, "pattern": {"shape": shape, "size": 6}},
                hovertemplate="%{text}: %{x:.4f}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    figure.update_xaxes(title="mean cosine", nticks=6)
    figure.update_yaxes(
        tickvals=list(range(len(rows))), ticktext=ticks, range=[len(rows) - 0.4, -0.6], showgrid=False
    )
    height = 190 + rows_height(ticks, 30)
    return legend_below(plain(figure, height=height)).update_layout(barmode="group")
