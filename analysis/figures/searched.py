"""Optuna's figures of a search's complete trials, in the page's colours."""

from collections.abc import Collection, Mapping, Sequence
from html import escape
from itertools import combinations
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE, Contents
from analysis.figures import style
from analysis.formats import show_number

if TYPE_CHECKING:
    from rse_study.sampling.optuna_study import FrozenTrial, Study

MOST_TRIALS = 1000  # drawn in a figure
BAR = {
    "orientation": "h", "x": 0, "xanchor": "left", "len": 0.95, "y": -0.22, "yanchor": "top", "outlinewidth": 0,
}  # fmt: skip
"""The place of a scale of colours: below the figure, where a narrow page has room."""
ROW = 62  # pixels between two axes
LEAST_GAP = 0.4  # of an axis between two ticks, so that a telephone shows both
LINES = {
    "lower half": {"color": style.FAINT, "width": 1},
    "better half": {"color": "#7fb2ea", "width": 1.2},
    "best tenth": {"color": style.BLUE, "width": 1.8},
    BASE: {"color": style.INK, "width": 2.5, "dash": "dash"},
    "best": {"color": style.ORANGE, "width": 3},
}
"""Styles of the groups of trials by rank, from back to front."""


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
        "color": [style.ORANGE if one else style.GREY for one in is_best],
        "width": [2.5 if one else 0.5 for one in is_best],
    }
    dots.update(ids=numbers, marker={"showscale": False, "colorscale": style.BLUES, "line": rings})
    dots.hovertemplate = f"trial %{{id}}<br>{dots.hovertemplate}"
    given = figure.layout.xaxis
    if given.categoryarray:
        given.categoryarray = [unquoted(value) for value in given.categoryarray]
    figure.update_xaxes(title=style.label_text(heading, 40), exponentformat="power", nticks=6)
    figure.update_xaxes(dtick=decades(*span(study, axis)) if given.type == "log" else None)
    return style.plain(figure.update_yaxes(title=None, nticks=5).update_layout(title=None), height=230)


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
    figure, names, layouts = go.Figure(), {}, list[dict[str, Any]]()
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
            "text": f"{style.label_text(label, 40)}, coloured by rank",
            "side": "top",
            "font": {"size": 13},
        }
        figure.add_traces([dots, scale.update(meta=dots.meta)])
        names[dots.meta] = " and ".join(headings[axis] for axis in pair)
        layouts.append({})
        for name, axis in zip(("xaxis", "yaxis"), pair, strict=True):
            layouts[-1] |= axis_layout(name, drawn.layout[name], headings[axis])
    return style.add_views(style.plain(figure, height=520), names, layouts)


def axis_layout(name: str, axis: go.layout.XAxis | go.layout.YAxis, heading: str) -> dict[str, Any]:
    """Return plotly's settings of an axis of a pair."""
    is_log = axis.type == "log"
    ticks = decades(*(10**end for end in axis.range)) if is_log else None
    shown = {"type": axis.type or "linear", "range": axis.range, "dtick": ticks, "exponentformat": "power"}
    return {f"{name}.{key}": value for key, value in shown.items()} | {
        f"{name}.title.text": style.label_text(heading, 40)
    }


def history_of(contents: Contents, table: pd.DataFrame, scores: pd.DataFrame) -> go.Figure | None:
    """Draw the complete ones of a table of trials; None without any."""
    complete = table[(table["status"] == "complete") & table["objective"].notna()]
    if complete.empty:
        return None
    best = set(complete.loc[complete["best"], "trial"])
    return draw_history(drawn_study(contents, complete), scores, contents.label, best, contents.decimals)


def draw_history(
    study: "Study", scores: pd.DataFrame, label: str, best: Collection[int], decimals: int = 2
) -> go.Figure:
    """Draw complete trials, the baselines and, of one objective, the best so far."""
    target = None if len(study.directions) == 1 else first_value
    figure = visualization().plot_optimization_history(study, target=target, target_name=label)
    line = {"shape": "hv", "color": style.GREY, "width": 2}
    figure.update_traces(name="best so far", line=line, hoverinfo="skip", selector={"mode": "lines"})
    figure.update_traces(
        mode="markers+text", textposition="top center", cliponaxis=False, marker={"size": 10},
        hovertemplate=f"trial %{{x}}: %{{y:.{decimals}f}}<extra></extra>", selector={"mode": "markers"},
    )  # fmt: skip
    dots = figure.data[0]
    dots.marker.color = [style.ORANGE if number in best else style.BLUE for number in dots.x]
    dots.update(
        name="complete", ids=dots.x, text=[f"{number}" if number in best else "" for number in dots.x]
    )
    numbers = [0, *(number for trace in figure.data for number in trace.x)]
    margin = max(0.5, 0.02 * max(numbers))
    ends = [-margin, max(numbers) + margin]
    shown = near(pd.concat([pd.Series(trace.y, dtype=float) for trace in (dots, figure.data[-1])]), scores)
    add_baselines(figure, scores, ends, decimals, shown)
    ticks = {"dtick": 1} if max(numbers) < 8 else {"nticks": 20, "tickangle": 0}
    figure.update_xaxes(title="trial", tickformat="d", range=ends, **ticks)
    figure.update_yaxes(title=style.label_text(label, 18), range=shown)
    return style.plain(figure.update_layout(title=None), height=420)


def add_baselines(
    figure: go.Figure, scores: pd.DataFrame, ends: list[float], decimals: int, shown: list[float] | None
) -> None:
    """Add a dashed line for each baseline; the legend names those outside the figure."""
    for row in scores.dropna(subset="value").itertuples():
        outside = " (outside)" if shown and not shown[0] <= row.value <= shown[1] else ""
        figure.add_scatter(
            x=ends, y=[row.value, row.value], name=f"{escape(row.label)}: {row.value:.{decimals}f}{outside}",
            mode="lines", line={"color": style.GREY, "dash": f"{2 + 3 * row.Index}px,3px", "width": 1.5},
            hoverinfo="name", hoverlabel={"namelength": -1},
        )  # fmt: skip


def near(found: pd.Series, scores: pd.DataFrame) -> list[float] | None:
    """Return a range with all complete trials and the baselines near them."""
    if found.nunique() < 2:
        return None
    spread = found.max() - found.min()
    values = pd.concat(
        [found, scores["value"][scores["value"].between(found.min() - 3 * spread, found.max() + 3 * spread)]]
    )
    margin = 0.08 * (values.max() - values.min())
    return [values.min() - margin, values.max() + margin]


def draw_parallel(
    study: "Study", headings: Mapping[str, str], label: str, marked: Mapping[str, float], is_less_better: bool
) -> go.Figure:
    """Draw one axis below the other, the objective first, and a line per trial.

    `marked` has the scores of the best trial and of the base. Plotly's own parallel coordinates, which can be brushed,
    compile code in the browser, which a report's security policy forbids.
    """
    drawn = visualization().plot_parallel_coordinate(
        study, params=list(headings), target=first_value, target_name=label
    )
    values = sorted(first_value(one) for one in trials_of(study))
    lines = [one for one in drawn.data if one.customdata is not None]
    places = np.array([line.y[0] for line in lines])
    shares = pd.Series(places).rank(method="first", ascending=is_less_better).to_numpy() / len(lines)
    groups = np.select([shares <= 0.1, shares <= 0.5], ["best tenth", "better half"], "lower half").astype(
        object
    )
    for name, score in marked.items():
        at = (score - values[0]) / (values[-1] - values[0]) if values[-1] > values[0] else 0.5
        groups[np.flatnonzero(np.isclose(places, at, rtol=0, atol=1e-12))[:1]] = name
    figure = go.Figure()
    for group, look in LINES.items():
        members = [line for line, own in zip(lines, groups, strict=True) if own == group]
        if members:
            add_lines(figure, members, group, look)
    turn(figure, drawn, [headings.get(name, name) for name in drawn.layout.xaxis.ticktext])
    return style.legend_below(figure)


def add_lines(figure: go.Figure, members: Sequence[go.Scatter], group: str, look: Mapping[str, Any]) -> None:
    """Add the lines of a group as one trace with gaps."""
    xs: list[float] = []
    ys: list[float] = []
    texts: list[str] = []
    for line in members:
        xs += [*line.y, np.nan]
        ys += [*line.x, np.nan]
        texts += [
            *(
                f"{style.label_text(name, 40)}: {style.label_text(text, 30)}"
                for name, text in line.customdata
            ),
            "",
        ]
    figure.add_scatter(
        x=np.array(xs, np.float32), y=np.array(ys, np.float32), text=texts, name=f"{group} ({len(members)})", line=look,
        mode="lines", connectgaps=False, hovertemplate="%{text}<extra></extra>",
    )  # fmt: skip


def turn(figure: go.Figure, drawn: go.Figure, names: Sequence[str]) -> None:
    """Lay Optuna's upright axes down, one below the other: so they fit a narrow page."""
    for row in range(len(names)):
        figure.add_shape(type="line", x0=0, x1=1, y0=row, y1=row, line={"color": style.GREY, "width": 1})
    last = (-1, 0.0)
    for tick in drawn.layout.annotations:
        row, at = tick.x, tick.y
        if row == last[0] and (at - last[1] < LEAST_GAP or LEAST_GAP > 1 - at > 0):
            continue
        last = (row, at)
        figure.add_annotation(
            x=at, y=row, text=style.label_text(tick.text, 12), showarrow=False, yanchor="top", yshift=-2, borderpad=0,
            xanchor="left" if at == 0 else "right" if at == 1 else "center", font={"size": 11, "color": style.INK},
            bgcolor=style.GROUND,
        )  # fmt: skip
    ticks = {"tickvals": [*range(len(names))], "ticktext": [style.label_text(name, 13) for name in names]}
    figure.update_xaxes(range=[-0.07, 1.07], visible=False, fixedrange=True)
    figure.update_yaxes(range=[len(names) - 0.4, -0.5], showgrid=False, fixedrange=True, **ticks)
    style.plain(figure, height=96 + ROW * len(names))
