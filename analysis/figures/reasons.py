"""Why cells failed and attempts were lost, with similar reasons counted together."""

import re
from collections.abc import Mapping

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.cost import lost_attempts
from analysis.figures.style import FAINT, GREY, INK, ORANGE, label_text, legend_below, plain
from analysis.phrases import counted

COLUMNS = ["reason", "kind", "count", "cells"]
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.IGNORECASE)
IDENTITY = re.compile(r"\b[0-9a-f]{12,}\b")
KINDS = {"failed cells": ORANGE, "lost attempts": FAINT}
UNKNOWN = "no reason on record"
MAX_REASONS = 20
NUM_CELLS_NAMED = 12
BAR, LINE, GAP = 20, 16, 8  # pixels: of a bar, of a line of its text, below a bar


def reasons_data(contents: Contents, names: dict[str, str]) -> pd.DataFrame:
    """Return a row per reason and kind, the most frequent reason first.

    Columns: reason (numbers replaced by N, so that "step 3: the loss is nan" and step 7 are one), kind (failed cells,
    lost attempts), count, cells (the first few, by `names`).
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
    """Return a reason without what differs from cell to cell."""
    text = NUMBER.sub("N", IDENTITY.sub("ID", str(reason).splitlines()[0] if reason else UNKNOWN))
    return text if len(text) <= 140 else f"{text[:139]}\N{HORIZONTAL ELLIPSIS}"


def named(cells: pd.Series) -> str:
    """Return the first few names, and how many more there are."""
    unique = list(dict.fromkeys(cells.dropna().astype(str)))
    more = len(unique) - NUM_CELLS_NAMED
    return "; ".join(unique[:NUM_CELLS_NAMED]) + (f"; and {more} more" if more > 0 else "")


def draw_reasons(frame: pd.DataFrame) -> go.Figure:
    """Draw a bar per reason with its text above."""
    figure, reasons = go.Figure(), list(dict.fromkeys(frame["reason"]))[:MAX_REASONS]
    totals = frame.groupby("reason")["count"].sum()
    texts = {
        reason: f"{label_text(reason, 44)} ({counted(int(totals[reason]), 'time')})" for reason in reasons
    }
    place, height = stacked(texts)
    for kind, colour in KINDS.items():
        part = frame[(frame["kind"] == kind) & frame["reason"].isin(reasons)]
        if len(part):
            figure.add_bar(
                x=part["count"], y=part["reason"].map(place), orientation="h", name=kind, width=BAR,
                marker={"color": colour, "line": {"width": 0.5, "color": GREY}},
                hovertext=[label_text(cells, 50) for cells in part["cells"]],
                hovertemplate="%{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )  # fmt: skip
    for reason, middle in place.items():
        figure.add_annotation(
            x=0, y=middle - BAR / 2 - 1, text=texts[reason], showarrow=False, xanchor="left", yanchor="bottom",
            align="left", font={"size": 12, "color": INK},
        )  # fmt: skip
    ticks = {"dtick": 1} if totals.max() <= 6 else {"nticks": 6}
    figure.update_xaxes(title="how often", rangemode="tozero", tickformat="d", **ticks)
    figure.update_yaxes(visible=False, range=[height, 0])
    return legend_below(plain(figure, height=120 + height)).update_layout(barmode="stack")


def stacked(texts: Mapping[str, str]) -> tuple[dict[str, float], int]:
    """Return each bar's middle in pixels, below its text lines, and the total height."""
    place, top = {}, 0
    for reason, text in texts.items():
        above = LINE * (text.count("<br>") + 1) + 6
        place[reason] = top + above + BAR / 2
        top += above + BAR + GAP
    return place, top
