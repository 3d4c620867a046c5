"""A folder of attacks: queries, the effort to make inputs fall, input by input."""

from math import log10

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import FAINT, GREY, INK, ORANGE, arms, label_text, plain
from rse_study.results.statistics import share_interval

QUERIES_COLUMNS = ["set", "recipe", "lost", "low", "high", "queries"]
FALLS_COLUMNS = ["recipe", "x", "share"]
DASHES = ("solid", "dash", "dot", "dashdot", "longdash")
COLUMNS = ["set", "recipe", "input", "outcome", "queries", "words_changed", "num_fallen"]
CODES = {"skipped": 0, "failed": 1, "succeeded": 2}
NAMES = {"skipped": "skipped: misclassified without an attack", "failed": "withstood", "succeeded": "fell"}
SCALE = [
    [0.0, "#eef1f4"], [1 / 3, "#eef1f4"], [1 / 3, "#9cc4f0"], [2 / 3, "#9cc4f0"], [2 / 3, ORANGE], [1.0, ORANGE],
]  # fmt: skip
MAX_INPUTS = 400  # columns that are drawn, the first ones in order


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
    return pd.DataFrame(rows, columns=QUERIES_COLUMNS)


def draw_queries(frame: pd.DataFrame, colours: dict[str, str], symbols: dict[str, str]) -> go.Figure:
    """Draw a point per attack: colours are recipes, symbols are sets."""
    figure = go.Figure()
    for recipe, part in frame.groupby("recipe", sort=False):
        bars = arms(part["lost"], part["low"], part["high"], color=FAINT)
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


def falls_data(outcomes: pd.DataFrame, needed: pd.Series) -> pd.DataFrame:
    """Return recipe, x, share: per cent of attacked inputs that fell with at most x.

    `needed` is the cost of each outcome. Skipped inputs were not attacked. Every line begins at 0 and extends to the
    largest cost of all; a recipe that attacked nothing has no line.
    """
    attacked = outcomes.assign(x=needed.astype(float))[outcomes["outcome"] != "skipped"]
    fallen = attacked[attacked["outcome"] == "succeeded"]
    rows = []
    for recipe, part in attacked.groupby("recipe", sort=False):
        steps = part.loc[part["outcome"] == "succeeded", "x"].value_counts().sort_index().cumsum()
        line = [(x, 100 * num / len(part)) for x, num in steps.items()]
        first = [(line[0][0], 0.0)] if line else [(fallen["x"].min(), 0.0)]
        rows += [(recipe, *point) for point in [*first, *line, (fallen["x"].max(), [*first, *line][-1][1])]]
    return pd.DataFrame(rows, columns=FALLS_COLUMNS).dropna()


def draw_falls(frame: pd.DataFrame, needed: str, colours: dict[str, str], is_log: bool) -> go.Figure:
    """Draw a stepped line per recipe, which ends at its success rate."""
    figure = go.Figure()
    for number, (recipe, part) in enumerate(frame.groupby("recipe", sort=False)):
        figure.add_scatter(
            x=part["x"], y=part["share"], name=label_text(str(recipe), 40), mode="lines",
            line={"shape": "hv", "width": 2, "color": colours[str(recipe)], "dash": DASHES[number % len(DASHES)]},
            hovertemplate="%{x:.4g}: %{y:.1f}%<extra>%{fullData.name}</extra>",
        )  # fmt: skip
    figure.update_xaxes(title=needed, **x_axis(frame["x"].min(), frame["x"].max(), is_log))
    figure.update_yaxes(title="attacked inputs that fell, %", range=[-2, 102])
    return plain(figure, height=380)


def x_axis(low: float, high: float, is_log: bool) -> dict[str, object]:
    """Return plotly's settings: round ticks, and margins that show both end steps."""
    if not is_log:
        return {"range": [-0.03 * high, 1.03 * high], "nticks": 8}
    ends = [log10(max(low, 1)), log10(max(high, 1))]
    margin = 0.03 * (ends[1] - ends[0]) or 0.1
    ticks = [digit * 10**power for power in range(int(ends[1]) + 1) for digit in (1, 2, 5)]
    return {"type": "log", "range": [ends[0] - margin, ends[1] + margin], "tickvals": ticks}


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
