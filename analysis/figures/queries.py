"""Mean queries against the accuracy lost, as in figure 2 of RobustSentEmbed."""

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import FAINT, GREY, label_text, plain
from analysis.intervals import share_interval

COLUMNS = ["set", "recipe", "lost", "low", "high", "queries"]


def queries_data(summary: pd.DataFrame) -> pd.DataFrame:
    """Return a row per attack that had an input to attack and a goal to reach.

    Columns: set, recipe, lost (percentage points of accuracy), its 95% interval low and high, queries (mean over
    inputs).
    """
    rows = []
    for row in summary[summary["success_rate"].notna()].itertuples():
        interval = share_interval(row.num_succeeded, row.num_inputs)
        shares = (row.num_succeeded / row.num_inputs, interval.low, interval.high)
        rows.append((row.set, row.recipe, *(100 * share for share in shares), row.mean_queries))
    return pd.DataFrame(rows, columns=COLUMNS)


def draw_queries(frame: pd.DataFrame, colours: dict[str, str], symbols: dict[str, str]) -> go.Figure:
    """Draw a point per attack: colours are recipes, symbols are sets."""
    figure = go.Figure()
    for recipe, part in frame.groupby("recipe", sort=False):
        bars = {
            "array": part["high"] - part["lost"],
            "arrayminus": part["lost"] - part["low"],
            "color": FAINT,
        }
        figure.add_scatter(
            x=part["lost"], y=part["queries"], name=label_text(str(recipe), 40), mode="markers", error_x=bars,
            marker={"size": 13, "color": colours[str(recipe)], "symbol": part["set"].map(symbols)},
            text=[label_text(name, 40) for name in part["set"]],
            hovertemplate="%{text}: %{x:.1f} points lost, %{y:.1f} queries<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    for name, symbol in symbols.items() if len(symbols) > 1 else ():
        look = {"size": 10, "color": GREY, "symbol": symbol}
        figure.add_scatter(x=[None], y=[None], name=label_text(name, 40), mode="markers", marker=look)
    right, top = frame["high"].max(), frame["queries"].max()
    figure.update_xaxes(
        title="accuracy lost, percentage points", range=[-0.02 * right, 1.04 * right], nticks=8
    )
    figure.update_yaxes(title="mean queries an input", range=[-0.04 * top, 1.1 * top], nticks=7)
    return plain(figure, height=400)
