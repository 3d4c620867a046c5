"""Why cells failed and attempts were lost: reasons alike counted together."""

import re

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.cost import lost_attempts
from analysis.figures.style import FAINT, GREY, INK, ORANGE, label_text, legend_below, plain
from analysis.formats import counted

COLUMNS = ["reason", "kind", "count", "cells"]
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.IGNORECASE)
IDENTITY = re.compile(r"\b[0-9a-f]{12,}\b")
KINDS = {"failed cells": ORANGE, "lost attempts": FAINT}
UNKNOWN = "no reason on record"
MAX_REASONS = 20
NUM_CELLS_NAMED = 12


def reasons_data(contents: Contents, names: dict[str, str]) -> pd.DataFrame:
    """Return a row per reason and kind, the most frequent reason first.

    Columns: reason (numbers in it as N, so that "step 3: the loss is nan" and step 7 are one), kind (failed cells, lost
    attempts), count, cells (the first few, by `names`).
    """
    failed = contents.current[contents.current["status"] == "failed"]
    lost = lost_attempts(contents.attempts, contents.cells)
    parts = [
        pd.DataFrame({"kind": kind, "reason": part["reason"].map(alike), "cell": part[cell].map(names)})
        for (kind, part, cell) in (("failed cells", failed, "identity"), ("lost attempts", lost, "cell"))
    ]
    frame = pd.concat(parts, ignore_index=True)
    groups = frame.groupby(["reason", "kind"], sort=False)["cell"]
    table = groups.agg(count="size", cells=named).reset_index()
    whole = table.groupby("reason")["count"].transform("sum")
    order = table.assign(whole=whole).sort_values(["whole", "reason", "kind"], ascending=[False, True, True])
    return order[COLUMNS].reset_index(drop=True)


def alike(reason: str) -> str:
    """A reason without what differs from cell to cell."""
    text = NUMBER.sub("N", IDENTITY.sub("ID", str(reason).splitlines()[0] if reason else UNKNOWN))
    return text if len(text) <= 140 else f"{text[:139]}\N{HORIZONTAL ELLIPSIS}"


def named(cells: pd.Series) -> str:
    """The first few names, and how many more there are."""
    unique = list(dict.fromkeys(cells.dropna().astype(str)))
    more = len(unique) - NUM_CELLS_NAMED
    return "; ".join(unique[:NUM_CELLS_NAMED]) + (f"; and {more} more" if more > 0 else "")


def draw_reasons(frame: pd.DataFrame) -> go.Figure:
    """Draw a bar per reason, its text above it; frame by `reasons_data`."""
    figure, reasons = go.Figure(), list(dict.fromkeys(frame["reason"]))[:MAX_REASONS]
    place = {reason: number for number, reason in enumerate(reasons)}
    for kind, colour in KINDS.items():
        part = frame[(frame["kind"] == kind) & frame["reason"].isin(reasons)]
        if len(part):
            figure.add_bar(
                x=part["count"], y=part["reason"].map(place), orientation="h", name=kind, width=0.34,
                marker={"color": colour, "line": {"width": 0.5, "color": GREY}},
                hovertext=[label_text(cells, 50) for cells in part["cells"]],
                hovertemplate="%{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    totals = frame.groupby("reason")["count"].sum()
    for reason, number in place.items():
        text = f"{label_text(reason, 44)} ({counted(int(totals[reason]), 'time')})"
        figure.add_annotation(
            x=0, y=number - 0.2, text=text, showarrow=False, xanchor="left", yanchor="bottom", align="left",
            font={"size": 12, "color": INK},
        )  # fmt: skip
    lines = max((label_text(reason, 44).count("<br>") + 1 for reason in reasons), default=1)
    ticks = {"dtick": 1} if totals.max() <= 6 else {"nticks": 6}
    figure.update_xaxes(title="how often", rangemode="tozero", tickformat="d", **ticks)
    figure.update_yaxes(visible=False, range=[len(reasons) - 0.6, -0.9])
    height = 130 + len(reasons) * (30 + 16 * lines)
    return legend_below(plain(figure, height=height), gap=56).update_layout(barmode="stack")
