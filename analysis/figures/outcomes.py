"""Attacks side by side: which input fell to which recipe."""

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import FAINT, INK, ORANGE, label_text, plain

COLUMNS = ["set", "recipe", "input", "outcome", "queries", "words_changed", "num_fallen"]
CODES = {"skipped": 0, "failed": 1, "succeeded": 2}
NAMES = {"skipped": "skipped: misclassified without an attack", "failed": "withstood", "succeeded": "fell"}
SCALE = [
    [0.0, "#eef1f4"], [1 / 3, "#eef1f4"], [1 / 3, "#9cc4f0"], [2 / 3, "#9cc4f0"], [2 / 3, ORANGE], [1.0, ORANGE],
]  # fmt: skip
MAX_INPUTS = 400  # columns that are drawn, the first ones in order


def outcomes_data(outcomes: pd.DataFrame) -> pd.DataFrame:
    """Return a row per set, recipe and counted input of a folder of attacks.

    Columns: set, recipe, input (its index in the set), outcome, queries, words_changed, num_fallen (recipes to which
    the input fell). Within a set, the inputs that fell most often come first.
    """
    counted = outcomes[outcomes["is_counted"].astype(bool)]
    fallen = (counted["outcome"] == "succeeded").groupby([counted["set"], counted["index"]]).transform("sum")
    frame = counted.assign(
        input=counted["index"], queries=counted["num_queries"], words_changed=counted["changed"].map(len),
        num_fallen=fallen.astype(int),
    )  # fmt: skip
    order = {name: place for place, name in enumerate(dict.fromkeys(frame["set"]))}
    frame = frame.assign(place=frame["set"].map(order))
    ordered = frame.sort_values(
        ["place", "num_fallen", "input"], ascending=[True, False, True], kind="stable"
    )
    return ordered[COLUMNS].reset_index(drop=True)


def draw_outcomes(frame: pd.DataFrame) -> go.Figure:
    """Draw the frame of one set: a line per recipe and a column per input."""
    recipes = list(dict.fromkeys(frame["recipe"]))
    inputs = list(dict.fromkeys(frame["input"]))[:MAX_INPUTS]
    shown = frame[frame["input"].isin(inputs)]
    texts = [
        f"input {row.input} under {label_text(row.recipe, 30)}: {NAMES[row.outcome]}<br>{row.queries} queries, "
        f"{row.words_changed} words changed<br>falls to {row.num_fallen} of {len(recipes)} attacks"
        for row in shown.itertuples()
    ]
    shown = shown.assign(code=shown["outcome"].map(CODES), text=texts)
    fields, told = (
        shown.pivot_table(index="recipe", columns="input", values=name, aggfunc="first").reindex(
            index=recipes, columns=inputs
        )
        for name in ("code", "text")
    )
    figure = go.Figure(
        go.Heatmap(
            z=fields.to_numpy(dtype=float), text=told.fillna("").to_numpy(), x=list(range(1, len(inputs) + 1)),
            y=[label_text(recipe, 14) for recipe in recipes], colorscale=SCALE, zmin=-0.5, zmax=2.5, ygap=3,
            xgap=1 if len(inputs) <= 100 else 0, hoverongaps=False, hovertemplate="%{text}<extra></extra>",
            showscale=False,
        )
    )  # fmt: skip
    for name, colour in (("fell", ORANGE), ("withstood", "#9cc4f0"), ("skipped", "#eef1f4")):
        figure.add_scatter(
            x=[None], y=[None], mode="markers", name=name,
            marker={"symbol": "square", "size": 12, "color": colour, "line": {"width": 1, "color": FAINT}},
        )  # fmt: skip
    figure.update_xaxes(title="inputs, those that fell most often first", nticks=8, showgrid=False)
    figure.update_yaxes(autorange="reversed", showgrid=False, tickfont={"color": INK})
    return plain(figure, height=130 + 40 * len(recipes))
