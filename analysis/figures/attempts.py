"""Attempts over time, and why cells failed and attempts were lost."""

import re
from collections.abc import Mapping
from heapq import heappop, heappush

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.cost import lost_attempts
from analysis.figures.style import BLUE, FAINT, GREY, GROUND, INK, ORANGE, label_text, legend_below, plain
from analysis.formats import counted, show_duration, show_time
from rse_study.frames.study_results import times

REASONS_COLUMNS = ["reason", "kind", "count", "cells"]
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w])", re.IGNORECASE)
IDENTITY = re.compile(r"\b[0-9a-f]{12,}\b")
KINDS = {"failed cells": ORANGE, "lost attempts": FAINT}
UNKNOWN = "no reason on record"
MAX_REASONS = 20
NUM_CELLS_NAMED = 12
BAR, LINE, GAP = 20, 16, 8  # pixels: of a bar, of a line of its text, below a bar
TIMELINE_COLUMNS = ["cell", "number", "started", "seconds", "from_s", "lane", "outcome", "workers", "reason"]
BARS = {
    "complete": ("complete", BLUE, ""),
    "stopped_early": ("stopped early", "#7fb2ea", ""),
    "failed": ("failed", ORANGE, ""),
    "lost": ("lost, tried again", GROUND, "/"),
    "running": ("running", FAINT, ""),
}
"""Name, colour and hatching of each outcome."""
UNITS = ((2 * 86400.0, 86400.0, "days"), (2 * 3600.0, 3600.0, "hours"), (120.0, 60.0, "minutes"))
"""Least length of a figure, length of the unit (both in seconds) and its name."""


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
    return order[REASONS_COLUMNS].reset_index(drop=True)


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


def timeline_data(contents: Contents, names: dict[str, str]) -> pd.DataFrame:
    """Return a row per attempt that has a start, in its order.

    Columns: cell (by `names`, from its identity), number, started, seconds (to its end, or for a running one to the
    last known time), from_s (since the first start), lane (from 0: the first free one), outcome, workers, reason. The
    ledger does not record machines: a lane is no machine.
    """
    attempts = contents.attempts[contents.attempts["started"] != ""].sort_values(
        ["started", "cell", "number"]
    )
    started, ended = times(attempts["started"]), times(attempts["ended"])
    last = max(ended.max(), started.max()) if ended.notna().any() else started.max()
    seconds = (ended.fillna(last) - started).dt.total_seconds().clip(lower=0.0)
    since = (started - started.min()).dt.total_seconds()
    return attempts.assign(
        cell=[names.get(one, one) for one in attempts["cell"]], seconds=seconds, from_s=since,
        lane=lanes(since.tolist(), seconds.tolist()),
    )[TIMELINE_COLUMNS].reset_index(drop=True)  # fmt: skip


def lanes(starts: list[float], lengths: list[float]) -> list[int]:
    """Return the lowest free lane for each attempt, in the order of their starts."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    chosen = []
    for start, length in zip(starts, lengths, strict=True):
        while busy and busy[0][0] <= start:
            heappush(free, heappop(busy)[1])
        lane = heappop(free) if free else len(busy)
        heappush(busy, (start + max(length, 1e-9), lane))
        chosen.append(lane)
    return chosen


def draw_timeline(frame: pd.DataFrame) -> go.Figure:
    """Draw a bar per attempt, coloured by its outcome; lost ones are hatched."""
    figure, num_lanes = go.Figure(), int(frame["lane"].max()) + 1 if len(frame) else 1
    length, unit = unit_of((frame["from_s"] + frame["seconds"]).max() if len(frame) else 0.0)
    shortest = (frame["from_s"] + frame["seconds"]).max() / 400  # the shortest visible bar
    for outcome, (name, colour, shape) in BARS.items():
        part = frame[frame["outcome"] == outcome]
        if part.empty:
            continue
        texts = [
            f"{label_text(row.cell, 40)}, attempt {row.number}: {name}<br>{show_time(row.started)}, "
            f"{show_duration(row.seconds) or 'less than a second'}"
            + (f", {row.workers} workers" if row.workers > 1 else "")
            + (f"<br>{label_text(str(row.reason)[:160], 50)}" if row.reason else "")
            for row in part.itertuples()
        ]
        figure.add_bar(
            x=part["seconds"].clip(lower=shortest) / length, base=part["from_s"] / length, y=part["lane"] + 1,
            orientation="h", name=f"{name} ({len(part)})", hovertext=texts, hovertemplate="%{hovertext}<extra></extra>",
            marker={"color": colour, "pattern": {"shape": shape, "fgcolor": ORANGE, "size": 5},
                    "line": {"width": 0.5, "color": GREY}},
        )  # fmt: skip
    figure.update_xaxes(title=f"{unit} since the first start", rangemode="tozero", nticks=7)
    figure.update_yaxes(
        title="at the same time", range=[num_lanes + 0.6, 0.4], tickfont={"color": INK}, showgrid=False,
        **({"dtick": 1} if num_lanes <= 12 else {"nticks": 8}),
    )  # fmt: skip
    height = 150 + min(500, max(60, 26 * num_lanes))
    return legend_below(plain(figure, height=height)).update_layout(barmode="overlay", bargap=0.15)


def unit_of(seconds: float) -> tuple[float, str]:
    """Return a suitable unit of time for a length, in seconds, and its name."""
    return next(((length, name) for least, length, name in UNITS if seconds >= least), (1.0, "seconds"))
