"""Colours and layout of all figures, safe for colour blindness and print."""

from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from html import escape
from textwrap import wrap
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.io import templates

INK, GREY, FAINT, BLUE, ORANGE = "#1f2328", "#6e7781", "#b6bec7", "#0b62c4", "#c4560b"
GROUND = "#ffffff"
"""The page's background. Colours have six digits, so that the page can swap them in dark mode."""
SEED_COLOURS = ("#0b62c4", "#c4560b", "#1a7f5a", "#8250df", "#b3246b", "#57606a")
SEED_SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "star")
BLUES = [[0.0, "#e8f1fb"], [0.5, "#6aa3e0"], [1.0, "#0b3f86"]]
"""Pale to dark, so that values differ without colour, too."""
TRACES = ("bar", "heatmap", "scatter")
"""The kinds of traces that figures use."""
LEFT_OUT = "\N{HORIZONTAL ELLIPSIS}"
CHOICE = 30  # characters of a menu entry, so that the menu fits a telephone
MANY_ROWS = 15  # rows from which names have at most two lines


def plain(figure: go.Figure, height: int) -> go.Figure:
    """Apply the shared layout: white ground, thin grid, legend above the plot."""
    figure.update_layout(
        template=white_template(),
        height=height,
        autosize=True,
        font={"family": "system-ui, sans-serif", "size": 13, "color": INK},
        margin={"l": 56, "r": 16, "t": 16, "b": 48},
        legend={"orientation": "h", "yanchor": "bottom", "y": 1 + 8 / (height - 64), "x": 0},
        hovermode="closest",
    )
    figure.update_xaxes(automargin=True, zeroline=False)
    figure.update_yaxes(automargin=True, zeroline=False)
    return figure


@cache
def white_template() -> go.layout.Template:
    """Return plotly_white without unused parts: 3 ms per figure instead of 12."""
    white = templates["plotly_white"].to_plotly_json()
    others = ("geo", "polar", "scene", "ternary")
    layout = {name: value for name, value in white["layout"].items() if name not in others}
    return go.layout.Template(layout=layout, data={name: white["data"][name] for name in TRACES})


@lru_cache(maxsize=4096)
def label_text(text: str, width: int = 22) -> str:
    """Return a name for an axis in short lines, with markup escaped."""
    return "<br>".join(escape(line, quote=False) for line in wrap(text, width) or [""])


def shortened(text: str, most: int) -> str:
    """Return a text of at most `most` characters: its beginning and its end."""
    if len(text) <= most:
        return text
    head = (most - 1) // 2
    return f"{text[:head].rstrip()}{LEFT_OUT}{text[len(text) - (most - 1 - head) :].lstrip()}"


def row_ticks(names: Sequence[str], width: int = 18) -> list[str]:
    """Return names of rows in two or three lines, or whole if they would look alike."""
    most = 2 if len(names) > MANY_ROWS else 3
    short = [
        "<br>".join(escape(line, quote=False) for line in few_lines(name, width, most)) for name in names
    ]
    whole = [label_text(name, width) for name in names]
    return short if len(set(short)) == len(set(whole)) else whole


def few_lines(name: str, width: int, most: int) -> list[str]:
    """Return a name in at most `most` lines: its first words, and its last words."""
    lines = wrap(name, width) or [""]
    if len(lines) <= most:
        return lines
    *words, tail = name.split()
    while words and len(words[-1]) + 1 + len(tail) <= width:
        tail = f"{words.pop()} {tail}"
    return [*lines[: most - 2], f"{lines[most - 2]}{LEFT_OUT}", tail[-width:]]


def rows_height(ticks: Sequence[str], least: int) -> int:
    """Return the height in pixels of all rows, as high as the one with most lines."""
    lines = max((tick.count("<br>") + 1 for tick in ticks), default=1)
    return len(ticks) * max(least, 17 * lines + 6)


def arms(value: pd.Series, low: pd.Series, high: pd.Series, **look: Any) -> dict[str, Any]:
    """Return plotly's settings of the arms of intervals."""
    return {"type": "data", "array": high - value, "arrayminus": value - low, **look}


def chooser(buttons: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return plotly's settings of a menu of views above the plot."""
    return {
        "buttons": [one | {"label": shortened(str(one["label"]), CHOICE)} for one in buttons],
        "direction": "down", "showactive": True, "x": 0, "xanchor": "left", "y": 1.0, "yanchor": "bottom",
        "pad": {"b": 10, "t": 4}, "font": {"size": 13, "color": INK}, "bgcolor": "#f6f8fa", "bordercolor": FAINT,
    }  # fmt: skip


def add_views(
    figure: go.Figure, labels: Mapping[Any, str], layouts: Sequence[Mapping[str, Any]]
) -> go.Figure:
    """Let the reader choose a view: traces whose `meta` is its key, and a layout.

    Traces without `meta` are in every view.
    """
    keys, owner = list(labels), [trace.meta for trace in figure.data]
    figure.for_each_trace(lambda trace: trace.update(visible=trace.meta in (None, keys[0])))
    buttons = [
        {
            "label": labels[key],
            "method": "update",
            "args": [{"visible": [one in (None, key) for one in owner]}, layout],
        }
        for key, layout in zip(keys, layouts, strict=True)
    ]
    if len(keys) > 1:
        figure.update_layout(updatemenus=[chooser(buttons)])
    return figure.update_layout(layouts[0]) if layouts else figure


def legend_below(figure: go.Figure) -> go.Figure:
    """Put the legend at the bottom of the figure, below the axis title."""
    return figure.update_layout(
        legend={
            "orientation": "h",
            "yref": "container",
            "yanchor": "bottom",
            "y": 0,
            "x": 0,
            "xanchor": "left",
        }
    )
