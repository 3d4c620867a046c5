"""The objective step by step for every cell of a search whose rule stops trials."""

from collections.abc import Sequence

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import BASE
from analysis.figures.steps import add_lines, points_of
from analysis.figures.style import BLUE, FAINT, GREY, ORANGE, label_text, plain

LINES = {
    "other": ("other trials", {"color": FAINT, "width": 1.2}),
    "base": ("base", {"color": BLUE, "width": 2.5, "dash": "dash"}),
    "best base": ("best complete trial: the base", {"color": ORANGE, "width": 3}),
    "best": ("best complete trial", {"color": ORANGE, "width": 3}),
}
ENDS = {"stopped_early": ("stopped early", "circle-open"), "failed": ("failed", "x-thin-open")}


def curve_data(table: pd.DataFrame, curves: pd.DataFrame) -> pd.DataFrame:
    """Return every point of the objective, by trial and t.

    Columns: trial, t, value, status, role (best, base, best base, other), is_end.
    """
    roles = [
        " ".join(["best"] * best + ["base"] * (label == BASE)) or "other"
        for best, label in table[["best", "label"]].values
    ]
    frame = points_of(table[["identity", "trial", "status"]].assign(role=roles), curves)
    frame = frame.dropna(subset="value").sort_values(["trial", "t"]).reset_index(drop=True)
    is_end = ~frame.duplicated("identity", keep="last")
    return frame[["trial", "t", "value", "status", "role"]].assign(is_end=is_end)


def draw_curves(frame: pd.DataFrame, rungs: Sequence[int], label: str, decimals: int = 2) -> go.Figure:
    """Draw a line per trial, with hollow ends if stopped; vertical lines mark rungs."""
    figure = go.Figure()
    for rung in rungs:
        figure.add_vline(x=rung, line={"color": GREY, "width": 1, "dash": "dot"})
        figure.add_annotation(
            x=rung, y=1, yref="paper", xanchor="right", yanchor="top", text=f"rung {rung}", textangle=-90,
            showarrow=False, font={"size": 11, "color": GREY},
        )  # fmt: skip
    for role, (name, line) in LINES.items():
        part = frame[frame["role"] == role]
        if len(part):
            hover = f"trial %{{customdata}}, step %{{x}}: %{{y:.{decimals}f}}<extra></extra>"
            add_lines(figure, part, "trial", name=name, line=line, hovertemplate=hover)
    for status, (name, symbol) in ENDS.items():
        part = frame[frame["is_end"] & (frame["status"] == status)]
        if len(part):
            figure.add_scatter(
                x=part["t"], y=part["value"], name=name, mode="markers", hoverinfo="skip",
                marker={"symbol": symbol, "size": 8, "color": GREY, "line": {"width": 2}},
            )  # fmt: skip
    last = 1.0 if frame.empty else float(frame["t"].max())
    figure.update_xaxes(title="step", range=[0, 1.03 * last])
    figure.update_yaxes(title=label_text(label, 18))
    return plain(figure, height=440)
