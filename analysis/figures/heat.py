"""A grid of two axes as a heat map with the mean in each field."""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.scales import tick_angle
from analysis.figures.style import GROUND, INK, label_text, plain
from analysis.formats import show_number, show_value
from rse_study.results.comparing.contrasts import FactorEffects

COLUMNS = ["x", "y", "mean", "sd", "num_seeds"]
PALE = [[0.0, "#eaf3fd"], [1.0, "#7fb2ea"]]  # ink stays readable on all of it

DIVERGING = [[0.0, "#f2b48f"], [0.5, GROUND], [1.0, "#7fb2ea"]]


def interactions_data(found: FactorEffects) -> pd.DataFrame:
    """Return x, y, mean, sd, num_seeds of the effects of a factorial design.

    Main effects are on the diagonal, pairs on both sides of it; those that share a contrast have the same numbers.
    """
    numbers = found.compared.set_index("effect")[["mean", "sd", "num_seeds"]]
    rows = [
        (*pair, *numbers.loc[effect.name])
        for effect in found.effects
        for term in effect.terms
        for pair in dict.fromkeys([(term[0], term[-1]), (term[-1], term[0])])
    ]
    return pd.DataFrame(rows, columns=COLUMNS).astype({"num_seeds": int})


def heat_data(contents: Contents) -> pd.DataFrame:
    """Return x, y, mean, sd, num_seeds of complete combinations.

    x and y are values of the first and second axis as text, in the order of the file; sd divides by n - 1. Named rows
    are left out; a grid without exactly two axes has an empty frame.
    """
    axes = contents.study.axes
    cells = contents.stage("grid")
    cells = cells[(cells["label"] == "") & (cells["status"] == "complete") & cells["objective"].notna()]
    if len(axes) != 2 or cells.empty:
        return pd.DataFrame(columns=COLUMNS)
    x, y = ([show_value(proposal[axis.name]) for proposal in cells["proposal"]] for axis in axes)
    groups = cells.assign(x=x, y=y).groupby(["x", "y"], sort=False)["objective"]
    return groups.agg(mean="mean", sd="std", num_seeds="count").reset_index()


def draw_heat(
    frame: pd.DataFrame, headings: tuple[str, ...], label: str, decimals: int = 2, mid: float | None = None
) -> go.Figure:
    """Draw the first axis horizontally and the second vertically.

    Values above and below `mid` have a colour each.
    """
    columns, rows = list(dict.fromkeys(frame["x"])), list(dict.fromkeys(frame["y"]))
    means = frame.pivot(index="y", columns="x", values="mean").reindex(index=rows, columns=columns)
    told = [
        f"{show_number(row.mean, decimals)} (SD {show_number(row.sd, decimals)}, n = {row.num_seeds})"
        for row in frame.itertuples()
    ]
    hover = frame.assign(told=told).pivot(index="y", columns="x", values="told")
    # Above the map: beside it there would be no room for the fields' own numbers.
    bar = {
        "orientation": "h", "thickness": 8, "x": 0, "xanchor": "left", "len": 0.9, "y": 1.02, "yanchor": "bottom",
    }  # fmt: skip
    figure = go.Figure(
        go.Heatmap(
            z=means.to_numpy(), x=columns, y=rows, colorscale=PALE if mid is None else DIVERGING, zmid=mid, xgap=2,
            ygap=2, texttemplate=f"%{{z:.{decimals}f}}", textfont={"color": INK}, hoverongaps=False,
            text=hover.reindex(index=rows, columns=columns).to_numpy(), hovertemplate="%{text}<extra></extra>",
            colorbar=bar | {"title": {"text": label_text(label, 44), "side": "top", "font": {"size": 13}}},
        )
    )  # fmt: skip
    title = label_text(headings[0], 40)
    figure.update_xaxes(title=title, type="category", ticks="", tickangle=tick_angle(columns))
    figure.update_yaxes(title=label_text(headings[1], 40), type="category", ticks="")
    return plain(figure, height=220 + 46 * len(rows))
