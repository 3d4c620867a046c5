"""The effects of a factorial design as a map: main effects on the diagonal, pairs beside it."""

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import GROUND, INK, label_text, plain
from analysis.formats import STAR, show_signed
from rse_study.results.effects import FactorEffects
from rse_study.results.factors import TIMES

COLUMNS = ["one", "other", "difference", "low", "high", "sum", "n"]
DIVERGING = [[0.0, "#f2b48f"], [0.5, GROUND], [1.0, "#7fb2ea"]]  # ink stays readable on all of it


def interactions_data(found: FactorEffects) -> pd.DataFrame:
    """Return both fields of each pair and one of each main effect on the objective.

    Columns: one and other (factors), difference, low and high (simultaneous 95 %), sum (all that the contrast
    estimates), n (seeds). Aliased pairs have the same numbers; what could not be compared is left out.
    """
    rows = [
        (
            *pair,
            one.mean,
            one.simultaneous.low,
            one.simultaneous.high,
            " + ".join(map(TIMES.join, effect.terms)),
            one.n,
        )
        for effect, one in zip(found.effects, found.objective, strict=True)
        if one is not None
        for term in effect.terms
        for pair in dict.fromkeys([(term[0], term[-1]), (term[-1], term[0])])
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_interactions(frame: pd.DataFrame, names: list[str], label: str, decimals: int = 2) -> go.Figure:
    """Draw the map; a star marks what is shown to differ from 0."""
    is_shown = (frame["low"] > 0) | (frame["high"] < 0)
    texts = [
        f"{show_signed(row.difference, decimals)}{STAR if star else ''}"
        for row, star in zip(frame.itertuples(), is_shown, strict=True)
    ]
    hover = [
        f"{row.sum}: {show_signed(row.difference, decimals)}<br>{show_signed(row.low, decimals)} to "
        f"{show_signed(row.high, decimals)}, {row.n} seeds"
        for row in frame.itertuples()
    ]
    wide = frame.assign(text=texts, hover=hover).pivot(index="other", columns="one").reindex(index=names)
    z, shown, told = (wide[name].reindex(columns=names) for name in ("difference", "text", "hover"))
    ticks = [label_text(name, 18) for name in names]
    title = {"text": label_text(f"effect on {label}", 44), "side": "top", "font": {"size": 13}}
    bar = {
        "orientation": "h", "thickness": 8, "x": 0, "xanchor": "left", "len": 0.9, "y": 1.02, "yanchor": "bottom",
    }  # fmt: skip
    figure = go.Figure(
        go.Heatmap(
            z=z.to_numpy(), x=ticks, y=ticks, colorscale=DIVERGING, zmid=0, xgap=2, ygap=2, hoverongaps=False,
            text=shown.to_numpy(), texttemplate="%{text}", textfont={"color": INK}, customdata=told.to_numpy(),
            hovertemplate="%{customdata}<extra></extra>",
            colorbar=bar | {"title": title},
        )
    )  # fmt: skip
    figure.update_xaxes(type="category", ticks="")
    figure.update_yaxes(type="category", ticks="", autorange="reversed")
    return plain(figure, height=180 + 46 * len(names))
