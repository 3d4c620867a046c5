"""Each axis' share of the objective's variation, by evaluator, with intervals."""

from math import isnan

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import GREY, INK, SEED_COLOURS, label_text, legend_below, plain

COLUMNS = ["axis", "evaluator", "value", "low", "high", "num_trials", "mean"]


def importance_data(contents: Contents) -> pd.DataFrame:
    """Return a row per axis and evaluator, the most important axis first.

    Columns: axis (its heading), evaluator, value, low, high (NaN without an interval), num_trials, mean (over
    evaluators).
    """
    study = contents.study
    headings = dict(zip((axis.name for axis in study.axes), study.headings, strict=True))
    rows = contents.importance.dropna(subset="value")
    frame = rows.assign(
        axis=[headings.get(axis, axis) for axis in rows["axis"]],
        mean=rows.groupby("axis")["value"].transform("mean"),
    )
    order = ["mean", "axis", "evaluator"]
    return frame.sort_values(order, ascending=[False, True, True])[COLUMNS].reset_index(drop=True)


def draw_importance(frame: pd.DataFrame) -> go.Figure:
    """Draw horizontal bars, the most important axis on top."""
    figure = go.Figure()
    axes = list(dict.fromkeys(frame["axis"]))
    for number, (evaluator, part) in enumerate(frame.groupby("evaluator")):
        figure.add_bar(
            y=[label_text(axis, 16) for axis in part["axis"]], x=part["value"], name=label_text(str(evaluator), 30),
            orientation="h", marker={"color": SEED_COLOURS[number % len(SEED_COLOURS)]},
            error_x={"array": part["high"] - part["value"], "arrayminus": part["value"] - part["low"],
                     "color": INK, "thickness": 1.2, "width": 3},
            customdata=[share_text(*one) for one in part[["low", "high", "num_trials"]].itertuples(index=False)],
            hovertemplate="%{y}: %{x:.3f}%{customdata} trials<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_xaxes(
        title="share of the variation", rangemode="tozero", nticks=6, tickfont={"color": GREY}
    )
    figure.update_yaxes(
        categoryorder="array", categoryarray=[label_text(axis, 16) for axis in axes][::-1], showgrid=False
    )
    per_axis = 14 + 15 * frame["evaluator"].nunique()
    return legend_below(plain(figure, height=120 + len(axes) * per_axis)).update_layout(barmode="group")


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
