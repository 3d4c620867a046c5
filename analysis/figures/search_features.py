"""A search's rungs, the importance of its axes, and its ablation path."""

from collections.abc import Sequence
from math import isnan, nan

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures import style
from analysis.formats import show_number, show_signed, show_value
from rse_study.results.statistics import t_interval
from rse_study.search.ablation_path import PathPoint

RUNGS_COLUMNS = ["trial", "t", "value", "verdict", "order"]
WIDTH = 0.8  # of a rung's column, where columns lie 1 apart
MARKS = {"continue": ("went on", "circle", style.BLUE), "stop": ("stopped", "x-thin-open", style.ORANGE)}
"""Name, symbol and colour of each verdict."""
IMPORTANCE_COLUMNS = ["axis", "evaluator", "value", "low", "high", "num_trials", "mean"]
PATH_COLUMNS = [
    *("place", "axis", "before", "after", "is_kept", "num_seeds"),
    *("mean", "low", "high", "gain", "gain_low", "gain_high"),
]


def rungs_data(contents: Contents) -> pd.DataFrame:
    """Return a row per verdict: trial, t, value, verdict, order.

    The order runs from 0 for the first trial to 1 for the last, as a later trial is measured against more others.
    Verdicts without a number are left out.
    """
    frame = contents.rungs[["trial", "t", "value", "verdict"]].dropna(subset="value")
    num = max(1, int(contents.stage("search")["trial"].max()) if len(contents.stage("search")) else 1)
    return (
        frame.sort_values(["t", "trial"])
        .assign(order=frame["trial"] / num)[RUNGS_COLUMNS]
        .reset_index(drop=True)
    )


def draw_rungs(frame: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw a column per rung with a dot for each trial that reached it, in order."""
    figure, steps = go.Figure(), sorted(frame["t"].unique())
    column = {t: place for place, t in enumerate(steps)}
    for verdict, (name, symbol, colour) in MARKS.items():
        part = frame[frame["verdict"] == verdict]
        texts = [
            f"trial {row.trial} {name} at step {row.t}: {show_number(row.value, decimals)}"
            for row in part.itertuples()
        ]
        figure.add_scatter(
            x=(part["t"].map(column) + WIDTH * (part["order"] - 0.5)).to_numpy(np.float32), y=part["value"],
            name=f"{name} ({len(part)})", mode="markers", text=texts, hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "color": colour, "size": dot_size(len(frame)),
                    "line": {"width": 1.8 if "open" in symbol else 0.5, "color": colour}},
        )  # fmt: skip
    for t in steps[1:]:
        figure.add_vline(x=column[t] - 0.5, line={"color": style.GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        tickvals=list(column.values()), ticktext=column_names(frame, steps), showgrid=False,
        range=[-0.5, len(steps) - 0.5], tickfont={"color": style.INK},
    )  # fmt: skip
    figure.update_yaxes(title=style.label_text(label, 34), nticks=7)
    return style.legend_below(style.plain(figure, height=430))


def column_names(frame: pd.DataFrame, steps: Sequence[int]) -> list[str]:
    """Return the label of each column: its step and how many trials went on."""
    names = []
    for t in steps:
        verdicts = frame.loc[frame["t"] == t, "verdict"]
        names.append(f"step {t}<br>{(verdicts != 'stop').sum()} of {len(verdicts)}<br>went on")
    return names


def dot_size(num: int) -> int:
    """Return the size of dots in pixels, smaller the more there are."""
    return 9 if num <= 60 else 6 if num <= 400 else 4


def importance_data(contents: Contents) -> pd.DataFrame:
    """Return a row per axis and evaluator, the most important axis first.

    Columns: axis (its heading), evaluator, value, low, high (NaN without an interval), num_trials, mean (over
    evaluators).
    """
    study = contents.study
    headings = study.heading_of
    rows = contents.importance.dropna(subset="value")
    frame = rows.assign(
        axis=[headings.get(axis, axis) for axis in rows["axis"]],
        mean=rows.groupby("axis")["value"].transform("mean"),
    )
    order = ["mean", "axis", "evaluator"]
    return frame.sort_values(order, ascending=[False, True, True])[IMPORTANCE_COLUMNS].reset_index(drop=True)


def draw_importance(frame: pd.DataFrame) -> go.Figure:
    """Draw horizontal bars, the most important axis on top."""
    figure = go.Figure()
    axes = list(dict.fromkeys(frame["axis"]))
    for number, (evaluator, part) in enumerate(frame.groupby("evaluator")):
        figure.add_bar(
            y=[style.label_text(axis, 16) for axis in part["axis"]], x=part["value"],
            name=style.label_text(str(evaluator), 30), orientation="h",
            marker={"color": style.SEED_COLOURS[number % len(style.SEED_COLOURS)]},
            error_x={"array": part["high"] - part["value"], "arrayminus": part["value"] - part["low"],
                     "color": style.INK, "thickness": 1.2, "width": 3},
            customdata=[share_text(*one) for one in part[["low", "high", "num_trials"]].itertuples(index=False)],
            hovertemplate="%{y}: %{x:.3f}%{customdata} trials<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_xaxes(
        title="share of the variation", rangemode="tozero", nticks=6, tickfont={"color": style.GREY}
    )
    figure.update_yaxes(
        categoryorder="array",
        categoryarray=[style.label_text(axis, 16) for axis in axes][::-1],
        showgrid=False,
    )
    per_axis = 14 + 15 * frame["evaluator"].nunique()
    return style.legend_below(style.plain(figure, height=120 + len(axes) * per_axis)).update_layout(
        barmode="group"
    )


def share_text(low: float, high: float, num_trials: int) -> str:
    """Return the text after a share: its interval, if any, and its number of trials."""
    interval = "" if isnan(low) else f" ({low:.3f} to {high:.3f})"
    return f"{interval}, over {num_trials}"


def not_told_apart(frame: pd.DataFrame) -> tuple[str, list[str]]:
    """Return an evaluator's first axis, and those whose intervals overlap with it."""
    ordered = frame.sort_values("value", ascending=False, kind="stable")
    first, others = ordered.iloc[0], ordered.iloc[1:]
    overlapping = others[(others["high"] >= first["low"]) & (others["low"] <= first["high"])]
    return str(first["axis"]), [str(axis) for axis in overlapping["axis"]]


def path_data(contents: Contents) -> pd.DataFrame:
    """Return a row per finished point of the path.

    Columns: place (0: the base; then the round), axis (its heading), before, after (its values as text),
    is_kept, num_seeds, mean and its 95% interval low, high over seeds; gain over the point before, paired by seed,
    and its interval. Student's t; NaN for fewer than two seeds.
    """
    state = contents.search.path
    if state is None:
        return pd.DataFrame(columns=PATH_COLUMNS)
    headings = contents.study.heading_of
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
    return pd.DataFrame(rows, columns=PATH_COLUMNS)


def _summary(values: tuple[float, ...]) -> tuple[int, float, float, float]:
    finite = [value for value in values if np.isfinite(value)]
    if not finite:
        return 0, nan, nan, nan
    if len(finite) == 1:
        return 1, finite[0], nan, nan
    interval = t_interval(finite)
    return len(finite), float(np.mean(finite)), interval.low, interval.high


def gain_colour(low: float, high: float, *, less_is_better: bool) -> str:
    """Return the colour of a gain, of a loss, or of what the interval does not tell."""
    if not low * high > 0:
        return style.GREY
    return style.BLUE if (low > 0) != less_is_better else style.ORANGE


def draw_path(
    frame: pd.DataFrame, label: str, decimals: int = 2, *, less_is_better: bool = False
) -> go.Figure:
    """Draw a bar per kept flip, as long as its paired gain, and other flips as dots."""
    figure = go.Figure()
    kept, others = frame[frame["is_kept"]], frame[~frame["is_kept"]]
    flips, texts = kept[kept["place"] > 0], (kept["mean"].map(lambda mean: f"{mean:.{decimals}f}"))
    figure.add_scatter(
        x=others["mean"], y=others["place"], mode="markers", name="flips not kept",
        marker={"color": style.FAINT, "size": 7}, customdata=others["axis"], showlegend=len(others) > 0,
        hovertemplate=f"%{{customdata}}: %{{x:.{decimals}f}}<extra>not kept</extra>",
    )  # fmt: skip
    look = {"color": style.INK, "thickness": 1.2, "width": 4}
    arms = style.arms(flips["gain"], flips["gain_low"], flips["gain_high"], **look)
    bounds = flips[["gain_low", "gain_high"]].values
    colours = [gain_colour(low, high, less_is_better=less_is_better) for low, high in bounds]
    figure.add_bar(
        x=flips["gain"], base=flips["mean"] - flips["gain"], y=flips["place"], orientation="h", width=0.5,
        name="gain of the kept flip, paired by seed, with its 95% interval (orange: a loss; grey: not told)",
        error_x=arms, marker={"color": colours},
        customdata=[show_signed(gain, decimals) for gain in flips["gain"]],
        hovertemplate="%{customdata}<extra></extra>",
    )  # fmt: skip
    figure.add_scatter(
        x=kept["mean"], y=kept["place"], mode="markers+text", text=texts, textposition="bottom center", name="mean",
        marker={"symbol": "line-ns", "size": 18, "line": {"width": 2, "color": style.INK}}, hoverinfo="skip",
    )  # fmt: skip
    ticks = [
        f"{axis} = {after}" if axis else BASE for axis, after in zip(kept["axis"], kept["after"], strict=True)
    ]
    last = float(kept["place"].max()) if len(kept) else 0.0
    figure.update_yaxes(tickvals=kept["place"], ticktext=style.row_ticks(ticks), range=[last + 0.7, -0.6])
    figure.update_xaxes(title=style.label_text(label, 34), nticks=6)
    return style.legend_below(style.plain(figure, height=130 + 44 * len(kept)))
