"""A search trial by trial: Optuna's figure with the baselines."""

from collections.abc import Collection
from typing import TYPE_CHECKING

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.searched import first_value, visualization
from analysis.figures.style import BLUE, DASHES, GREY, ORANGE, label_text, plain

if TYPE_CHECKING:
    from analysis.figures.searched import Study


def draw_history(
    study: "Study", scores: pd.DataFrame, label: str, best: Collection[int], decimals: int = 2
) -> go.Figure:
    """Draw complete trials, the baselines and, of one objective, the best so far."""
    target = None if len(study.directions) == 1 else first_value
    figure = visualization().plot_optimization_history(study, target=target, target_name=label)
    line = {"shape": "hv", "color": GREY, "width": 2}
    figure.update_traces(name="best so far", line=line, hoverinfo="skip", selector={"mode": "lines"})
    figure.update_traces(
        mode="markers+text", textposition="top center", cliponaxis=False, marker={"size": 10},
        hovertemplate=f"trial %{{x}}: %{{y:.{decimals}f}}<extra></extra>", selector={"mode": "markers"},
    )  # fmt: skip
    dots = figure.data[0]
    dots.marker.color = [ORANGE if number in best else BLUE for number in dots.x]
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
    figure.update_yaxes(title=label_text(label, 18), range=shown)
    return plain(figure.update_layout(title=None), height=420)


def add_baselines(
    figure: go.Figure, scores: pd.DataFrame, ends: list[float], decimals: int, shown: list[float] | None
) -> None:
    """Add a dashed line for each baseline; the legend names those outside the figure."""
    for row in scores.dropna(subset="value").itertuples():
        outside = " (outside)" if shown and not shown[0] <= row.value <= shown[1] else ""
        figure.add_scatter(
            x=ends, y=[row.value, row.value], name=f"{row.label}: {row.value:.{decimals}f}{outside}",
            mode="lines", line={"color": GREY, "dash": DASHES[row.subject], "width": 1.5},
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
