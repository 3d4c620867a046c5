"""The objective over two axes of a search, interpolated within the trials' hull."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from scipy.interpolate import LinearNDInterpolator
from scipy.spatial import QhullError

from analysis.figures.rulers import MAX_TICKS, Ruler
from analysis.figures.style import BLUES, INK, ORANGE, chooser, label_text, plain
from analysis.formats import show_number

GRID = 25  # points of a map's side
BIN = 12  # fields of a map's side; trials in one field are averaged
MAX_POINTS = 200  # trials drawn on a map
LEAST = 4  # fields with trials that a map needs
COLUMNS = ["x_axis", "y_axis", "trial", "best", "x", "y", "x_text", "y_text", "objective"]


def contour_data(positions: pd.DataFrame, axes: Sequence[str] = ()) -> pd.DataFrame:
    """Return a row per pair of axes and complete trial, from `rulers.positions_data`.

    Columns: x_axis, y_axis, trial, best, x, y (positions from 0 to 1), x_text, y_text, objective. Pairs follow `axes`
    (most important first), then the order of the study. Trials without a position on either axis are left out.
    """
    by_axis = {axis: part.set_index("trial") for axis, part in positions.groupby("axis", sort=False)}
    order = [*axes, *(axis for axis in by_axis if axis not in axes)]
    frames = []
    for first, second in combinations([axis for axis in order if axis in by_axis], 2):
        x, y = by_axis[first], by_axis[second]
        frame = x[["best", "objective"]].assign(
            x_axis=first, y_axis=second, x=x["position"], y=y["position"], x_text=x["text"], y_text=y["text"]
        )
        frames.append(frame.dropna(subset=["x", "y"]).reset_index())
    return pd.concat(frames, ignore_index=True)[COLUMNS] if frames else pd.DataFrame(columns=COLUMNS)


def surface(x: np.ndarray, y: np.ndarray, values: np.ndarray) -> np.ndarray | None:
    """Return the interpolated map [y, x] of values over the unit square.

    It is NaN outside the hull of the points, and None if they are too few or on one line. Values in one field of a
    grid are averaged first, so that chance differences between neighbours make no peaks.
    """
    fields = pd.DataFrame({"x": x, "y": y, "value": values})
    keys = [np.minimum((np.asarray(one) * BIN).astype(int), BIN - 1) for one in (x, y)]
    means = fields.groupby(keys).mean() if len(fields) else fields
    if len(means) < LEAST:
        return None
    ticks = np.linspace(0, 1, GRID)
    try:
        interpolate = LinearNDInterpolator(means[["x", "y"]].to_numpy(), means["value"].to_numpy())
    except QhullError:
        return None  # all points on one line
    return np.asarray(interpolate(*np.meshgrid(ticks, ticks)), dtype=np.float32)


def draw_contour(frame: pd.DataFrame, rulers: Sequence[Ruler], label: str, decimals: int = 2) -> go.Figure:
    """Draw a map per pair of axes; the reader chooses the pair."""
    figure, by_heading = go.Figure(), {ruler.heading: ruler for ruler in rulers}
    pairs = list(dict.fromkeys(zip(frame["x_axis"], frame["y_axis"], strict=True)))
    low, high = float(frame["objective"].quantile(0.05)), float(frame["objective"].max())
    for number, (first, second) in enumerate(pairs):
        part = frame[(frame["x_axis"] == first) & (frame["y_axis"] == second)]
        has_choices = bool(by_heading[first].choices or by_heading[second].choices)
        add_map(figure, part.iloc[:0] if has_choices else part, decimals, number == 0)
        add_points(figure, part, decimals, number == 0)
    layouts = [pair_layout(by_heading[first], by_heading[second]) for first, second in pairs]
    buttons = [
        {
            "label": f"{first} and {second}", "method": "update",
            "args": [{"visible": [place // 2 == number for place in range(2 * len(pairs))]}, layout],
        }
        for number, ((first, second), layout) in enumerate(zip(pairs, layouts, strict=True))
    ]  # fmt: skip
    plain(figure, height=520)
    figure.update_layout(
        updatemenus=[chooser(buttons)], showlegend=False,
        coloraxis={
            "colorscale": BLUES, "cmin": low, "cmax": high,
            "colorbar": {
                "orientation": "h", "thickness": 10, "x": 0, "xanchor": "left", "len": 0.95, "y": -0.22,
                "yanchor": "top", "nticks": 5,
                "title": {"text": label_text(label, 40), "side": "top", "font": {"size": 13}},
            },
        },
    )  # fmt: skip
    return figure.update_layout(layouts[0]) if layouts else figure


def add_map(figure: go.Figure, part: pd.DataFrame, decimals: int, is_shown: bool) -> None:
    """Add one pair's interpolated map, empty for choices and too few trials."""
    field = surface(*(part[name].to_numpy(dtype=float) for name in ("x", "y", "objective")))
    ticks = None if field is None else np.linspace(0, 1, GRID, dtype=np.float32)
    figure.add_heatmap(
        z=[[None]] if field is None else with_nothing(field, decimals + 1), x=ticks, y=ticks,
        coloraxis="coloraxis", visible=is_shown, connectgaps=False, hoverongaps=False,
        hovertemplate=f"about %{{z:.{decimals}f}}, interpolated<extra></extra>",
    )  # fmt: skip


def with_nothing(field: np.ndarray, decimals: int) -> list[list[float | None]]:
    """Return a map as rounded lists, with None for NaN."""
    return [[None if np.isnan(one) else round(float(one), decimals) for one in line] for line in field]


def add_points(figure: go.Figure, part: pd.DataFrame, decimals: int, is_shown: bool) -> None:
    """Add the trials of a pair; of very many, the best and a regular sample."""
    every = -(-len(part) // MAX_POINTS) or 1
    shown = part.iloc[::every]
    if not shown["best"].any():
        shown = pd.concat([shown, part[part["best"]]])
    texts = [
        f"trial {row.trial}: {show_number(row.objective, decimals)}<br>{label_text(row.x_axis, 40)} = "
        f"{label_text(row.x_text, 30)}<br>{label_text(row.y_axis, 40)} = {label_text(row.y_text, 30)}"
        for row in shown.itertuples()
    ]
    figure.add_scatter(
        x=shown["x"].to_numpy(np.float32), y=shown["y"].to_numpy(np.float32), mode="markers", text=texts,
        visible=is_shown, hovertemplate="%{text}<extra></extra>",
        marker={
            "size": np.where(shown["best"], 13, 8).astype(np.int8), "coloraxis": "coloraxis",
            "color": shown["objective"].to_numpy(np.float32),
            "line": {"width": 1.5, "color": [ORANGE if best else INK for best in shown["best"]]},
        },
    )  # fmt: skip


def pair_layout(first: Ruler, second: Ruler) -> dict[str, object]:
    """Return plotly's settings of both axes: titles, ticks and the searched range."""
    layout: dict[str, object] = {}
    for name, ruler in (("xaxis", first), ("yaxis", second)):
        ticks = ruler.ticks()[: MAX_TICKS + 2]
        layout |= {
            f"{name}.title.text": label_text(ruler.heading, 40), f"{name}.range": [-0.05, 1.05],
            f"{name}.tickvals": [position for position, _ in ticks],
            f"{name}.ticktext": [label_text(text, 12) for _, text in ticks],
        }  # fmt: skip
    return layout
