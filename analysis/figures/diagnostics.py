"""Diagnostics over training steps: losses, perturbation sizes, saturation."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, PAPER_SETTING, Contents
from analysis.figures.steps import add_band, add_mean
from analysis.figures.style import BLUE, INK, ORANGE, SEED_COLOURS, label_text, legend_below, plain
from analysis.search import chosen_of

COLUMNS = ["metric", "series", "t", "mean", "low", "high", "num_cells"]
ALL, BEST = "all cells", "best trial"
MAX_ROWS = len(SEED_COLOURS)
MEANINGS = {
    "loss": "the whole loss",
    "lr": "learning rate",
    "delta/norm": "L2 norm of delta",
    "delta/moved": "how far PGD moved delta from its start",
    "delta/moved_fgsm": "how far FGSM moved delta from its start",
    "delta/on_bound_pgd": "share of delta (PGD) on the bound of its ball",
    "delta/on_bound_fgsm": "share of delta (FGSM) on the bound of its ball",
    "eta/starved": "share of tokens whose eta is starved",
    "eta/on_bound": "share of eta on the bound of its ball",
    "inner/first": "loss of the first inner pass",
    "inner/last": "loss of the last inner pass",
    "masks/tokens": "share of tokens weakened",
    "masks/features": "share of features weakened",
    "cosine/positive": "mean cosine of positive pairs",
    "cosine/random": "mean cosine of random pairs",
    "virtual/gradient_ratio": "gradient of the virtual term by the gradient of the rest",
    "r/norm": "norm of the virtual perturbation",
}
"""Descriptions of metrics by their names in the ledger; other metrics show their names."""


def diagnostics_data(contents: Contents) -> pd.DataFrame:
    """Return a row per metric, series and step, over complete cells.

    Columns: metric, series, t, mean, low, high (10 and 90 % of the cells), num_cells. Series are the rows of a grid; a
    search, or a grid with many rows, has all cells together, the paper's setting and (a search) the best trial.
    """
    series = series_of(contents)
    frame = series.merge(contents.diagnostics, left_on="identity", right_on="cell")
    frame = frame[np.isfinite(frame["value"])]
    groups = frame.groupby(["name", "series", "t"], sort=False)["value"]
    table = groups.agg(["mean", "count"])
    table["low"], table["high"] = groups.quantile(0.1), groups.quantile(0.9)
    table = table.reset_index().rename(columns={"name": "metric", "count": "num_cells"})
    order = {name: place for place, name in enumerate(dict.fromkeys(series["series"]))}
    table = table.assign(place=table["series"].map(order)).sort_values(["metric", "place", "t"])
    return table[COLUMNS].reset_index(drop=True)


def series_of(contents: Contents) -> pd.DataFrame:
    """Return the series of each cell (identity, series); a cell may be in two."""
    cells = contents.stage(contents.study.kind)
    cells = cells[cells["status"] == "complete"]
    if contents.study.kind == "grid" and cells["name"].nunique() <= MAX_ROWS:
        return cells[["identity"]].assign(series=cells["name"])
    parts = [cells[["identity"]].assign(series=ALL)]
    bases = cells[cells["label"] == BASE]
    parts.append(bases[["identity"]].assign(series=PAPER_SETTING))
    if contents.study.kind == "search":
        best = next((one for one in chosen_of(contents) if one in set(cells["identity"])), "")
        parts.append(cells.loc[cells["identity"] == best, ["identity"]].assign(series=BEST))
    return pd.concat(parts, ignore_index=True)


def draw_diagnostics(frame: pd.DataFrame, metric: str) -> go.Figure:
    """Draw one metric: the mean of each series, and its 10 to 90 % band."""
    figure = go.Figure()
    part = frame[frame["metric"] == metric]
    names = list(dict.fromkeys(part["series"]))
    for number, name in enumerate(names):
        points = part[part["series"] == name]
        colour = {ALL: BLUE, BEST: ORANGE, PAPER_SETTING: INK}.get(name, SEED_COLOURS[number % MAX_ROWS])
        if (points["num_cells"] > 1).any():
            add_band(figure, points, name, colour, 0.14)
        dash = "dash" if name == PAPER_SETTING else "solid"
        line = {"color": colour, "width": 2, "dash": dash}
        add_mean(figure, points, name, "num_cells", ".4g", name=label_text(name, 30), mode="lines", line=line)
    figure.update_xaxes(title="step", rangemode="tozero", nticks=6)
    figure.update_yaxes(nticks=5, exponentformat="power")
    return legend_below(plain(figure, height=300))
