"""Mean cosine of positive and of random pairs, as in figure 3 of DCL.

Do vectors collapse?
"""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, ORANGE, label_text, legend_below, plain
from analysis.paper.tables import read_table

PAIRS = {"cosine/positive": "positive", "cosine/random": "random"}
"""By the metric's name in the ledger."""
COLOURS = {"positive": BLUE, "random": ORANGE}
COLUMNS = ["row", "pairs", "source", "seed", "value", "mean"]
FIGURE = "dcl-figure3"
OURS, THEIRS = "ours", "the paper's"


def cosines_data(contents: Contents) -> pd.DataFrame:
    """Return a row per row of the grid, kind of pairs and seed, and the paper's.

    Columns: row, pairs (positive, random), source (ours, the paper's), seed, value, mean. Of complete cells of a grid
    at their last step. The paper's rows come last: it does not say which of ours is which of theirs beyond the
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
    """Draw a pair of bars per row, dots for the seeds.

    The paper's, hatched, to the right. Frame by `cosines_data`.
    """
    figure = go.Figure()
    for source, shape in ((OURS, ""), (THEIRS, "/")):
        for pairs, colour in COLOURS.items():
            part = frame[(frame["source"] == source) & (frame["pairs"] == pairs)]
            if part.empty:
                continue
            means = part.drop_duplicates("row")
            figure.add_bar(
                x=[name_of(row, source) for row in means["row"]], y=means["mean"], name=f"{pairs}, {source}",
                offsetgroup=pairs, marker={"color": colour, "pattern": {"shape": shape, "size": 6}},
                hovertemplate="%{x}: %{y:.4f}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    figure.update_yaxes(title="mean cosine", nticks=6)
    figure.update_xaxes(tickangle=90 if frame["row"].nunique() > 5 else 0)
    return legend_below(plain(figure, height=460), gap=110).update_layout(barmode="group")


def name_of(row: str, source: str) -> str:
    """What stands below a pair of bars."""
    return label_text(row if source == OURS else f"paper: {row}", 14)
