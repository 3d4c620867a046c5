"""Sentences and their versions in the plane, by t-SNE, as in figure 2 of DCL."""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, FAINT, ORANGE, legend_below, plain
from rse_study.results.records import BASELINES, PLANE

COLUMNS = ["panel", "pair", "version", "x", "y"]
AGGREGATION = r"^(?P<axis>[xy]) (?P<pair>\d+) ?(?P<version>\w*)$"


def plane_data(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    """Return places of sentences (version "") and one kind of versions, by panel.

    A panel is a kind of version and a model: the encoder before training, or a row's first complete seed.
    """
    first = cells[cells["status"] == "complete"].sort_values("seed").drop_duplicates("name").sort_index()
    names = {"start": BASELINES["start"], **dict(zip(first["identity"], first["name"], strict=True))}
    rows = contents.evaluations[contents.evaluations["preset"] == PLANE]
    parts = (
        rows[["subject", "value"]].join(rows["aggregation"].str.extract(AGGREGATION)).dropna(subset="axis")
    )
    keys = ["subject", "pair", "version"]
    wide = parts.pivot(index=keys, columns="axis", values="value").reset_index().astype({"pair": int})
    frames = [
        wide[(wide["subject"] == subject) & wide["version"].isin(("", kind))].assign(panel=f"{name}, {kind}")
        for kind in sorted({*wide["version"]} - {""}, reverse=True)
        for subject, name in names.items()
    ]
    return pd.concat([wide.assign(panel="")[:0], *frames]).reindex(columns=COLUMNS)


def draw_plane(frame: pd.DataFrame) -> go.Figure:
    """Draw one panel: a line joins a sentence and its version."""
    figure, ends = go.Figure(), frame.pivot(index="pair", columns="version", values=["x", "y"])
    lines = {
        axis: [value for pair in ends[axis].to_numpy() for value in (*pair, None)] for axis in ("x", "y")
    }
    figure.add_scatter(**lines, mode="lines", line={"color": FAINT}, hoverinfo="skip", showlegend=False)
    for version, (colour, symbol) in zip(ends["x"], ((BLUE, "circle"), (ORANGE, "diamond")), strict=True):
        figure.add_scatter(
            x=ends["x"][version], y=ends["y"][version], mode="markers", name=version or "sentence",
            marker={"size": 8, "color": colour, "symbol": symbol}, text=ends.index,
            hovertemplate="sentence %{text}<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_xaxes(showticklabels=False)
    figure.update_yaxes(showticklabels=False)
    return legend_below(plain(figure, height=400))
