"""The ablation path as a waterfall: what each flip, kept or not, gains."""

from math import nan

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures.style import BLUE, FAINT, INK, label_text, legend_below, plain, row_ticks
from analysis.formats import show_signed, show_value
from rse_study.results.statistics import t_interval
from rse_study.search.ablation_path import PathPoint

COLUMNS = [
    *("place", "axis", "before", "after", "is_kept", "num_seeds"),
    *("mean", "low", "high", "gain", "gain_low", "gain_high"),
]


def path_data(contents: Contents) -> pd.DataFrame:
    """Return a row per finished point of the path.

    Columns: place (0: the base; then the round), axis (its heading), before, after (its values as text),
    is_kept, num_seeds, mean and its 95% interval low, high over seeds; gain over the point before, paired by seed,
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
    """Draw a bar per kept flip, as long as its paired gain, and other flips as dots."""
    figure = go.Figure()
    kept, others = frame[frame["is_kept"]], frame[~frame["is_kept"]]
    flips, texts = kept[kept["place"] > 0], (kept["mean"].map(lambda mean: f"{mean:.{decimals}f}"))
    figure.add_scatter(
        x=others["mean"], y=others["place"], mode="markers", name="flips not kept",
        marker={"color": FAINT, "size": 7}, customdata=others["axis"], showlegend=len(others) > 0,
        hovertemplate=f"%{{customdata}}: %{{x:.{decimals}f}}<extra>not kept</extra>",
    )  # fmt: skip
    arms = {
        "type": "data", "array": flips["gain_high"] - flips["gain"], "arrayminus": flips["gain"] - flips["gain_low"],
        "color": INK, "thickness": 1.2, "width": 4,
    }  # fmt: skip
    figure.add_bar(
        x=flips["gain"], base=flips["mean"] - flips["gain"], y=flips["place"], orientation="h", width=0.5,
        name="gain of the kept flip, paired by seed, with its 95% interval", error_x=arms, marker={"color": BLUE},
        customdata=[show_signed(gain, decimals) for gain in flips["gain"]],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=kept["mean"], y=kept["place"], mode="markers+text", text=texts, textposition="bottom center", name="mean",
        marker={"symbol": "line-ns", "size": 18, "line": {"width": 2, "color": INK}}, hoverinfo="skip",
    )  # fmt: skip
    ticks = [
        f"{axis} = {after}" if axis else BASE for axis, after in zip(kept["axis"], kept["after"], strict=True)
    ]
    last = float(kept["place"].max()) if len(kept) else 0.0
    figure.update_yaxes(tickvals=kept["place"], ticktext=row_ticks(ticks), range=[last + 0.7, -0.6])
    figure.update_xaxes(title=label_text(label, 34), nticks=6)
    return legend_below(plain(figure, height=130 + 44 * len(kept)))
