"""Differences from a baseline with their intervals, ours and the paper's."""

from collections.abc import Iterable, Mapping
from math import inf, nan
from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.columns import TableCell
from analysis.comparison import Comparison
from analysis.figures.style import (
    BLUE,
    FAINT,
    GREY,
    ORANGE,
    add_views,
    label_text,
    legend_below,
    plain,
    row_ticks,
    rows_height,
)
from analysis.formats import decimals_of, show_signed
from rse_study.results.comparing.effects import FactorEffects

COLUMNS = ["column", "row", "minus", "difference", "low", "high", "alone_low", "alone_high", "n"]
COLUMNS = [*COLUMNS, "paper", "decimals"]
SURE, UNSURE = "0 outside", "0 inside"


def forest_data(comparison: Comparison, decimals: int = 2) -> pd.DataFrame:
    """Return a row per contrast of the objective: each row minus the baseline.

    Columns: column (measure), row, minus, difference (mean over seeds), low and high (95 %, the interval that decides,
    NaN where it has no bounds yet), alone_low and alone_high (95 % for this row alone), n (seeds), paper (its
    difference, or NaN), decimals. Rows with too few seeds are left out.
    """
    start = comparison.printed.get(comparison.baseline, float("nan"))
    rows = [
        (
            comparison.label, row, comparison.baseline, one.mean, one.deciding.low, one.deciding.high,
            one.interval.low, one.interval.high, one.n, comparison.printed.get(row, float("nan")) - start, decimals,
        )
        for row, one in comparison.compared.items()
        if one is not None
    ]  # fmt: skip
    return _bounded(pd.DataFrame(rows, columns=COLUMNS))


def _bounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace infinite ends of intervals by NaN."""
    return frame.assign(**{end: frame[end].replace([-inf, inf], nan) for end in ("low", "high")})


def columns_forest_data(cells: Iterable[TableCell]) -> pd.DataFrame:
    """Return the same frame for every column of a paper's table.

    alone_low and alone_high are NaN, as no such intervals are computed. Names of columns include the block if there is
    more than one.
    """
    compared = [cell for cell in cells if cell.interval is not None]
    blocks = {cell.column.block for cell in compared}
    rows = []
    for cell in compared:
        name = f"{cell.column.block}, {cell.column.name}" if len(blocks) > 1 else cell.column.name
        assert cell.interval is not None
        rows.append((
            name, cell.row, cell.minus, cell.difference, cell.interval.low, cell.interval.high, nan, nan,
            len(cell.sample), cell.printed_difference, decimals_of(cell.column.metric),
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def effects_forest_data(found: FactorEffects, decimals: Mapping[str, int]) -> pd.DataFrame:
    """Return the same frame for the effects of a factorial design on every measure."""
    known = found.frame.dropna(subset="sd")
    is_anytime = known["criterion"] == "anytime"
    ends = {
        end: known[f"anytime_{end}"].where(is_anytime, known[f"simultaneous_{end}"])
        for end in ("low", "high")
    }
    shown = _bounded(known.assign(**ends))[
        ["measure", "effect", "mean", "low", "high", "t_low", "t_high", "num_seeds"]
    ]
    shown.columns = pd.Index([one for one in COLUMNS if one not in ("minus", "paper", "decimals")])
    return shown.assign(minus="", paper=float("nan"), decimals=shown["column"].map(decimals))[COLUMNS]


def draw_forest(frame: pd.DataFrame, margin: float = 0.0) -> go.Figure:
    """Draw a line per row with its intervals; a diamond is the paper's value.

    A band shows the margin, if there is one.
    """
    figure, columns = go.Figure(), list(dict.fromkeys(frame["column"]))
    parts = [frame[frame["column"] == column].reset_index(drop=True) for column in columns]
    ticks = [row_ticks(list(part["row"])) for part in parts]
    for column, part in zip(columns, parts, strict=True):
        add_column(figure, part, column)
    if margin:
        figure.add_vrect(x0=-margin, x1=margin, fillcolor=FAINT, opacity=0.3, line_width=0, layer="below")
    figure.add_vline(x=0, line={"color": GREY, "width": 1.2})
    plain(figure, height=190 + max((rows_height(texts, 26) for texts in ticks), default=0))
    minus = [str(part["minus"].iloc[0]) for part in parts]
    layouts = [rows_layout(*one) for one in zip(ticks, minus, strict=True)]
    return add_views(legend_below(figure), {column: column for column in columns}, layouts)


def rows_layout(texts: list[str], minus: str) -> dict[str, object]:
    """Return plotly's settings of both axes: a line per row, the first on top."""
    return {
        "yaxis.tickvals": list(range(len(texts))), "yaxis.ticktext": texts,
        "yaxis.range": [len(texts) - 0.4, -0.6],
        "xaxis.title.text": label_text(f"difference from {minus}" if minus else "effect", 26), "xaxis.autorange": True,
    }  # fmt: skip


def add_column(figure: go.Figure, part: pd.DataFrame, column: str) -> None:
    """Add a column's intervals and means, and the paper's differences if any."""
    alone = part.dropna(subset=["alone_low", "alone_high"])
    if len(alone):
        xs, ys = segments(alone, "alone_low", "alone_high")
        figure.add_scatter(
            x=xs, y=ys, mode="lines", name="95 %, row alone", line={"color": FAINT, "width": 7}, meta=column,
            hoverinfo="skip",
        )  # fmt: skip
    is_sure = (part["low"] > 0) | (part["high"] < 0)
    for name, chosen, symbol in ((SURE, is_sure, "circle"), (UNSURE, ~is_sure, "circle-open")):
        some = part[chosen]
        if some.empty:
            continue
        arms = {
            "type": "data", "array": some["high"] - some["difference"],
            "arrayminus": some["difference"] - some["low"], "color": BLUE, "thickness": 1.8, "width": 5,
        }  # fmt: skip
        figure.add_scatter(
            x=some["difference"], y=some.index, mode="markers", name=f"95 % at once, {name}", error_x=arms,
            marker={"size": 9, "color": BLUE, "symbol": symbol, "line": {"width": 2, "color": BLUE}}, meta=column,
            text=[hover(row) for row in some.itertuples()], hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    printed = part[part["paper"].notna()]
    if len(printed):
        figure.add_scatter(
            x=printed["paper"], y=printed.index, mode="markers", name="the paper's", meta=column,
            marker={"size": 10, "color": ORANGE, "symbol": "diamond-open", "line": {"width": 2}},
            text=[
                f"the paper: {label_text(row.row, 40)} {show_signed(row.paper, row.decimals)}"
                for row in printed.itertuples()
            ],
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip


def segments(part: pd.DataFrame, low: str, high: str) -> tuple[list[float | None], list[float | None]]:
    """Return horizontal lines between two columns of values, one at each row."""
    xs: list[float | None] = []
    ys: list[float | None] = []
    for place, first, last in zip(part.index, part[low], part[high], strict=True):
        xs += [first, last, None]
        ys += [place, place, None]
    return xs, ys


def hover(row: Any) -> str:
    """Return the hover text of a row: difference, interval, seeds."""
    difference, low, high = (
        show_signed(value, row.decimals) for value in (row.difference, row.low, row.high)
    )
    bounds = f"{low} to {high}" if low else "no bounds yet"
    return f"{label_text(row.row, 40)}: {difference}<br>{bounds}, {row.n} seeds"
