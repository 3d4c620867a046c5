"""Diagnostics of one row over training steps: losses, shares, perturbation sizes."""

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.contents import BASE, Contents
from analysis.figures.curves import add_lines
from analysis.figures.style import BLUE, label_text, plain
from analysis.search import chosen_of
from rse_study.results.row_names import names_of_cells

COLUMNS = ["row", "cell", "metric", "t", "value"]
MOST_ROWS = 12
NUM_ACROSS, PANEL = 3, 190  # panels side by side, and the height of one in pixels
MEANINGS = {
    "loss": "the whole loss",
    "lr": "learning rate",
    "inner/rise": "rise of the inner loss, relative to its value at chance",
    "delta/norm": "L2 norm of delta",
    "delta/moved": "movement of PGD, relative to its start",
    "delta/moved_of_bound": "movement of PGD, relative to the bound",
    "delta/moved_fgsm": "movement of FGSM, relative to its start",
    "delta/moved_fgsm_of_bound": "movement of FGSM, relative to the bound",
    "delta/on_bound_pgd": "share of delta (PGD) on the bound of its ball",
    "delta/on_bound_fgsm": "share of delta (FGSM) on the bound of its ball",
    "eta/growth": "norm of eta, relative to V's start",
    "eta/starved": "share of tokens whose eta is starved",
    "eta/on_bound": "share of eta on the bound of its ball",
    "inner/first": "loss of the first inner pass",
    "inner/last": "loss of the last inner pass",
    "masks/tokens": "share of tokens weakened",
    "masks/features": "share of features weakened",
    "rtd/replaced": "share of tokens replaced",
    "rtd/detected": "share of replaced tokens detected",
    "cosine/positive": "mean cosine of positive pairs",
    "cosine/random": "mean cosine of random pairs",
    "virtual/gradient_ratio": "gradient of the virtual term, relative to that of the rest",
    "r/norm": "norm of the virtual perturbation",
    "r/moved": "movement of r, relative to its start",
}
"""Descriptions of metrics by their names in the ledger; other metrics show their names."""


def diagnostics_data(contents: Contents) -> pd.DataFrame:
    """Return a row per complete cell, metric and step: row, cell, metric, t, value.

    Rows are the first of a grid; of a search the base, the best trial and the confirmed ones. Metrics that never differ
    from 0 in a row are left out.
    """
    frame = rows_of_cells(contents).merge(contents.diagnostics, left_on="identity", right_on="cell")
    frame = frame[np.isfinite(frame["value"])].rename(columns={"name": "metric"})
    largest = frame.groupby(["row", "metric"])["value"].transform(lambda values: values.abs().max())
    order = {name: place for place, name in enumerate(MEANINGS)}
    frame = frame.assign(place=frame["metric"].map(order).fillna(len(order)))[largest > 0]
    return frame.sort_values(["place", "metric", "cell", "t"])[COLUMNS].reset_index(drop=True)


def rows_of_cells(contents: Contents) -> pd.DataFrame:
    """Return the row of each complete cell that is shown: identity, row."""
    cells = contents.current[contents.current["status"] == "complete"]
    cells = cells.assign(row=names_of_cells(contents.study, cells))
    if contents.study.kind == "grid":
        return cells.loc[cells["row"].isin(cells["row"].unique()[:MOST_ROWS]), ["identity", "row"]]
    is_shown = (cells["label"] == BASE) | (cells["stage"] == "confirm")
    return cells.loc[is_shown | cells["identity"].isin(chosen_of(contents)[:1]), ["identity", "row"]]


def draw_diagnostics(frame: pd.DataFrame) -> go.Figure:
    """Draw a row's metrics, a panel for each, with a line for each of its cells."""
    parts = list(frame.groupby("metric", sort=False))
    titles = [label_text(MEANINGS.get(metric, metric), 40) for metric, _ in parts]
    num_down = -(-len(parts) // NUM_ACROSS)
    grid = make_subplots(num_down, NUM_ACROSS, subplot_titles=titles, vertical_spacing=0.32 / num_down)
    for number, (_, points) in enumerate(parts):
        panel, (row, column) = go.Figure(), divmod(number, NUM_ACROSS)
        add_lines(
            panel, points, "cell", line={"color": BLUE, "width": 1.5}, showlegend=False, hoverinfo="x+y"
        )
        grid.add_traces(panel.data, rows=row + 1, cols=column + 1)
    grid.update_annotations(font_size=12)
    grid.update_xaxes(rangemode="tozero", nticks=5)
    grid.update_yaxes(nticks=4, exponentformat="power")
    return plain(grid, height=PANEL * num_down + 40).update_layout(margin_t=40)
