"""Optuna's figures of a search's complete trials, in the page's colours."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures.style import BLUES, GREY, ORANGE, add_views, label_text, plain
from analysis.formats import show_number

if TYPE_CHECKING:
    from rse_study.sampling.optuna_study import FrozenTrial, Study

MOST_TRIALS = 1000  # drawn in a figure
BAR = {
    "orientation": "h", "x": 0, "xanchor": "left", "len": 0.95, "y": -0.22, "yanchor": "top", "outlinewidth": 0,
}  # fmt: skip
"""The place of a scale of colours: below the figure, where a narrow page has room."""


def optuna_of(contents: Contents, trials: Sequence[int] | None = None) -> "Study":
    """Return a search as a study of Optuna: all trials, or those with these numbers."""
    from rse_study.sampling.optuna_study import optuna_study  # on use: reports of grids do without optuna

    cells, standings = contents.current, contents.search.standings
    if trials is not None:
        cells = cells[cells["trial"].isin(trials)]
    has_bounds = bool(contents.study.constraints)
    violations = {one.key: [0.0 if one.is_feasible else 1.0] for one in standings if has_bounds}
    values = {one.key: one.values for one in standings}
    return optuna_study(contents.study, cells, values, contents.curves, violations)


def drawn_study(contents: Contents, complete: pd.DataFrame) -> "Study":
    """Return the complete trials; of very many a sample with the best and the base."""
    every = -(-len(complete) // MOST_TRIALS)
    marked = complete.loc[complete["best"] | (complete["label"] == BASE), "trial"]
    return optuna_of(contents, [*complete.iloc[::every]["trial"], *marked])


def visualization() -> ModuleType:
    """Return Optuna's module of figures, imported on use."""
    from rse_study.sampling.optuna_study import visualization

    return visualization


def trials_of(study: "Study") -> "list[FrozenTrial]":
    """Return the trials that figures show."""
    return [one for one in study.get_trials(deepcopy=False) if one.values]


def first_value(trial: "FrozenTrial") -> float:
    """Return the first of a trial's objectives."""
    return float(trial.values[0])


def draw_slice(
    study: "Study", axis: str, heading: str, label: str, best: Collection[int], decimals: int = 2
) -> go.Figure:
    """Draw the objective against one axis, later trials darker."""
    figure = visualization().plot_slice(study, params=[axis], target=first_value, target_name=label)
    for trace in figure.data:
        trace.update(x=[unquoted(value) for value in trace.x], cliponaxis=False, marker={"size": 9})
        trace.hovertemplate = f"%{{x}}: %{{y:.{decimals}f}}<extra></extra>"
    dots = figure.data[0]  # the others break a bound
    numbers = dots.marker.color
    is_best = [number in best for number in numbers]
    rings = {
        "color": [ORANGE if one else GREY for one in is_best],
        "width": [2.5 if one else 0.5 for one in is_best],
    }
    dots.update(ids=numbers, marker={"showscale": False, "colorscale": BLUES, "line": rings})
    dots.hovertemplate = f"trial %{{id}}<br>{dots.hovertemplate}"
    given = figure.layout.xaxis
    if given.categoryarray:
        given.categoryarray = [unquoted(value) for value in given.categoryarray]
    figure.update_xaxes(title=label_text(heading, 40), exponentformat="power", nticks=6)
    figure.update_xaxes(dtick=decades(*span(study, axis)) if given.type == "log" else None)
    return plain(figure.update_yaxes(title=None, nticks=5).update_layout(title=None), height=230)


def unquoted(value: Any) -> Any:
    """Return a choice as readers write it: Optuna writes text in quotes."""
    return value.strip("'") if isinstance(value, str) else value


def span(study: "Study", axis: str) -> tuple[float, float]:
    """Return the least and the largest value of an axis."""
    values = [one.params[axis] for one in trials_of(study) if axis in one.params]
    return min(values), max(values)


def decades(low: float, high: float) -> str | int:
    """Return plotly's distance of ticks on a logarithmic axis."""
    return "D2" if high / low <= 10 else 1


def draw_ranks(study: "Study", headings: Mapping[str, str], label: str, decimals: int = 2) -> go.Figure:
    """Draw the trials over each pair of axes by rank; the reader chooses the pair."""
    figure, names, layouts = go.Figure(), {}, []
    for pair in combinations(headings, 2):
        both = [one for one in trials_of(study) if set(pair) <= set(one.params)]
        if not both:
            continue
        drawn = visualization().plot_rank(study, params=list(pair), target=first_value, target_name=label)
        texts = [f"trial {one.number}: {show_number(first_value(one), decimals)}" for one in both]
        dots, scale = drawn.data
        dots.update(
            ids=[one.number for one in both],
            hovertext=texts,
            marker={"size": 10},
            meta=pair[0] + " " + pair[1],
        )
        dots.hovertemplate = "%{hovertext}<br>%{x}, %{y}<extra></extra>"
        bar = scale.marker.colorbar.update(BAR)
        bar.ticktext = [show_number(float(text[text.index("(") + 1 : -1]), decimals) for text in bar.ticktext]
        bar.title = {
            "text": f"{label_text(label, 40)}, coloured by rank",
            "side": "top",
            "font": {"size": 13},
        }
        figure.add_traces([dots, scale.update(meta=dots.meta)])
        names[dots.meta] = " and ".join(headings[axis] for axis in pair)
        axes = zip(("xaxis", "yaxis"), pair, strict=True)
        layouts.append(
            {
                key: value
                for name, axis in axes
                for key, value in axis_layout(name, drawn.layout[name], headings[axis]).items()
            }
        )
    return add_views(plain(figure, height=520), names, layouts)


def axis_layout(name: str, axis: go.layout.XAxis | go.layout.YAxis, heading: str) -> dict[str, Any]:
    """Return plotly's settings of an axis of a pair."""
    is_log = axis.type == "log"
    ticks = decades(*(10**end for end in axis.range)) if is_log else None
    shown = {"type": axis.type or "linear", "range": axis.range, "dtick": ticks, "exponentformat": "power"}
    return {f"{name}.{key}": value for key, value in shown.items()} | {
        f"{name}.title.text": label_text(heading, 40)
    }
