"""The share of inputs that fell with at most so many queries or changed words."""

from math import log10

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import label_text, plain

COLUMNS = ["recipe", "x", "share"]
LINES = ("solid", "dash", "dot", "dashdot", "longdash")


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
    return pd.DataFrame(rows, columns=COLUMNS).dropna()


def draw_falls(frame: pd.DataFrame, needed: str, colours: dict[str, str], is_log: bool) -> go.Figure:
    """Draw a stepped line per recipe, which ends at its success rate."""
    figure = go.Figure()
    for number, (recipe, part) in enumerate(frame.groupby("recipe", sort=False)):
        figure.add_scatter(
            x=part["x"], y=part["share"], name=label_text(str(recipe), 40), mode="lines",
            line={"shape": "hv", "width": 2, "color": colours[str(recipe)], "dash": LINES[number % len(LINES)]},
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
