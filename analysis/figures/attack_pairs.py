"""Mean queries against accuracy lost, as in figure 2 of RobustSentEmbed."""

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import FAINT, GREY, SEED_COLOURS, SEED_SYMBOLS, label_text, legend_below, plain

PARTS = ("queries", "original_accuracy", "accuracy_under_attack")
COLUMNS = ["set", "recipe", "row", "lost", "queries", "num_seeds"]
MAX_ROWS = len(SEED_COLOURS)
PREFIX = "attack-"


def attack_pairs_data(contents: Contents, cells: pd.DataFrame) -> pd.DataFrame:
    """Return a row per attacked set, recipe and row, averaged over complete seeds.

    Columns: set, recipe, row, lost (points of accuracy), queries (mean per input), num_seeds.
    """
    rows = contents.evaluations[
        contents.evaluations["aggregation"].isin(PARTS) & contents.evaluations["task"].str.startswith(PREFIX)
    ]
    complete = cells[cells["status"] == "complete"].set_index("identity")["name"]
    rows = rows[rows["subject"].isin(complete.index)]
    keys = ["task", "preset", "subject"]
    wide = rows.pivot_table(index=keys, columns="aggregation", values="value")
    wide = wide.reindex(columns=list(PARTS)).dropna().reset_index()
    wide = wide.assign(
        set=wide["task"].str.removeprefix(PREFIX), recipe=wide["preset"], row=wide["subject"].map(complete),
        lost=wide["original_accuracy"] - wide["accuracy_under_attack"],
    )  # fmt: skip
    groups = wide.groupby(["set", "recipe", "row"], sort=False)
    table = groups.agg(lost=("lost", "mean"), queries=("queries", "mean"), num_seeds=("subject", "count"))
    order = {name: place for place, name in enumerate(dict.fromkeys(complete))}
    table = table.reset_index()
    return (
        table.assign(place=table["row"].map(order))
        .sort_values(["set", "recipe", "place"])[COLUMNS]
        .reset_index(drop=True)
    )


def draw_attack_pairs(frame: pd.DataFrame) -> go.Figure:
    """Draw the frame of one set: a colour per row, a symbol per recipe."""
    figure = go.Figure()
    rows, recipes = (list(dict.fromkeys(frame[name])) for name in ("row", "recipe"))
    symbols = {recipe: SEED_SYMBOLS[number % len(SEED_SYMBOLS)] for number, recipe in enumerate(recipes)}
    for _, part in frame.groupby("recipe", sort=False):
        if len(rows) > MAX_ROWS:
            break  # lines through so many would hide what they join
        figure.add_scatter(
            x=part["lost"], y=part["queries"], mode="lines", line={"color": FAINT, "width": 1.5}, showlegend=False,
            hoverinfo="skip",
        )  # fmt: skip
    is_many = len(rows) > MAX_ROWS
    groups = [("rows", frame)] if is_many else [(row, frame[frame["row"] == row]) for row in rows]
    for number, (name, part) in enumerate(groups):
        texts = [
            f"{label_text(one.row, 40)} under {one.recipe}<br>{one.lost:.1f} points lost, {one.queries:.1f} queries, "
            f"{one.num_seeds} seeds"
            for one in part.itertuples()
        ]
        figure.add_scatter(
            x=part["lost"], y=part["queries"], mode="markers", name=label_text(name, 40), text=texts,
            hovertemplate="%{text}<extra></extra>",
            marker={"size": 7 if is_many else 12, "color": SEED_COLOURS[number], "symbol": part["recipe"].map(symbols)},
        )  # fmt: skip
    for recipe, symbol in symbols.items():
        look = {"size": 10, "color": GREY, "symbol": symbol}
        figure.add_scatter(x=[None], y=[None], name=label_text(recipe, 30), mode="markers", marker=look)
    figure.update_xaxes(title="accuracy lost, points", rangemode="tozero", nticks=7)
    figure.update_yaxes(title="mean queries an input", rangemode="tozero", nticks=7)
    return legend_below(plain(figure, height=440))
