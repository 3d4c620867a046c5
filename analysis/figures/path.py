"""The ablation path: the objective after each flip, kept or not."""

from math import nan

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures.style import BLUE, FAINT, GREY, label_text, legend_below, plain
from analysis.formats import show_value
from rse_study.results.statistics import t_interval
from rse_study.search.ablation_path import PathPoint

COLUMNS = [
    *("place", "axis", "before", "after", "is_kept", "num_seeds"),
    *("mean", "low", "high", "gain", "gain_low", "gain_high"),
]


def path_data(contents: Contents) -> pd.DataFrame:
    """Return a row per finished point of the path.

    Columns: place (0: the base; then the round), axis (its heading), before, after (its values as text),
    is_kept, num_seeds, mean and its 95 % interval low, high over seeds; gain over the point before, paired by seed,
    and its interval. Student's t; NaN for fewer than two seeds.
    """
    state = contents.search.path
    if state is None:
        return pd.DataFrame(columns=COLUMNS)
    headings = dict(zip((axis.name for axis in contents.study.axes), contents.study.headings, strict=True))
    start = state.values.get(PathPoint(), ())
    rows = [(0, "", "", "", True, *_summary(start), nan, nan, nan)] if start else []
    for place, one in enumerate(state.rounds, start=1):
        for flip in one.flips:
            values = state.values.get(one.before | {flip})
            if values is None:
                continue
            gains = np.subtract(values, state.values.get(one.before, [nan] * len(values)))
            before, after = (show_value(end.proposal[flip]) for end in (state.base, state.best))
            gain = _summary(tuple(gains))[1:]
            rows.append(
                (place, headings[flip], before, after, flip == one.accepted, *_summary(values), *gain)
            )
    return pd.DataFrame(rows, columns=COLUMNS)


def _summary(values: tuple[float, ...]) -> tuple[int, float, float, float]:
    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return 0, nan, nan, nan
    if len(finite) == 1:
        return 1, finite[0], nan, nan
    interval = t_interval(finite)
    return len(finite), float(np.mean(finite)), interval.low, interval.high


def draw_path(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw kept flips as a line with intervals, and the others faint."""
    figure = go.Figure()
    kept, others = frame[frame["is_kept"]], frame[~frame["is_kept"]]
    figure.add_scatter(
        x=others["place"], y=others["mean"], mode="markers", name="flips not kept",
        marker={"color": FAINT, "size": 7}, customdata=others["axis"], showlegend=len(others) > 0,
        hovertemplate=f"%{{customdata}}: %{{y:.{decimals}f}}<extra>not kept</extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=kept["place"], y=kept["mean"], mode="lines+markers", name="kept, mean of the seeds and 95 % interval",
        line={"color": BLUE, "width": 2}, marker={"size": 8, "color": BLUE},
        error_y={"array": kept["high"] - kept["mean"], "color": BLUE, "thickness": 1.2, "width": 4},
        customdata=[tick or BASE for tick in kept["axis"]],
        hovertemplate=f"%{{customdata}}: %{{y:.{decimals}f}}<extra>kept</extra>",
    )  # fmt: skip
    ticks = [
        label_text(f"{axis} = {after}" if axis else BASE, 12)
        for axis, after in zip(kept["axis"], kept["after"], strict=True)
    ]
    figure.update_xaxes(
        tickmode="array", tickvals=kept["place"], ticktext=ticks, tickfont={"color": GREY}, showgrid=False
    )
    figure.update_yaxes(title=label_text(label, 34), nticks=6)
    return legend_below(plain(figure, height=380))
