"""The objective trial by trial, the best so far, and the baselines."""

import pandas as pd
import plotly.graph_objects as go

from analysis.figures.style import BLUE, DASHES, GREY, ORANGE, plain


def history_data(table: pd.DataFrame, direction: str) -> pd.DataFrame:
    """trial, objective, status, best, best_so_far (of complete cells) in the order of the trials."""
    frame = table[["trial", "objective", "status", "best"]].sort_values("trial").reset_index(drop=True)
    complete = frame["objective"].where(frame["status"] == "complete")
    running = complete.cummax() if direction == "maximize" else complete.cummin()
    return frame.assign(best_so_far=running.ffill())


def draw_history(frame: pd.DataFrame, scores: pd.DataFrame, label: str) -> go.Figure:
    """Dots for trials (hollow: stopped early), a step line for the best so far, a line per baseline."""
    figure = go.Figure()
    figure.add_scatter(
        x=frame["trial"], y=frame["best_so_far"], name="best so far", mode="lines",
        line={"shape": "hv", "color": GREY, "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    marks = (("complete", "circle", "trial"), ("stopped_early", "circle-open", "stopped early"))
    for status, symbol, name in marks:
        part = frame[frame["status"] == status]
        if not part.empty:
            colours = [ORANGE if best else BLUE for best in part["best"]]
            figure.add_scatter(
                x=part["trial"], y=part["objective"], name=name, mode="markers",
                marker={"size": 10, "symbol": symbol, "color": colours},
                hovertemplate="trial %{x}: %{y:.2f}<extra></extra>",
            )  # fmt: skip
    add_baselines(figure, scores, frame["trial"])
    figure.update_xaxes(
        title="trial", tickformat="d", dtick=1 if len(frame) <= 20 else None, range=span(frame["trial"])
    )
    figure.update_yaxes(title=label)
    return plain(figure, height=400)


def add_baselines(figure: go.Figure, scores: pd.DataFrame, trials: pd.Series) -> None:
    """A dashed line over the whole width for every baseline that was measured."""
    for row in scores.dropna(subset="value").itertuples():
        figure.add_scatter(
            x=span(trials), y=[row.value, row.value], name=f"{row.label}: {row.value:.2f}",
            mode="lines", line={"color": GREY, "dash": DASHES[row.subject], "width": 1.5},
            hoverinfo="name", hoverlabel={"namelength": -1},
        )  # fmt: skip


def span(trials: pd.Series) -> list[float]:
    """The width of the figure: half a trial more on either side, so that no dot is cut."""
    return [-0.5, 0.5] if trials.empty else [trials.min() - 0.5, trials.max() + 0.5]
