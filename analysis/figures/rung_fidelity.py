"""The rank correlation between each rung of a search and the end of training."""

from typing import Any

import pandas as pd
import plotly.graph_objects as go

from analysis.contents import Contents
from analysis.figures.style import BLUE, GREY, INK, ORANGE, legend_below, plain
from analysis.formats import show_number, show_with_interval
from rse_study.search.rung_fidelity import LEAST, fidelity_of

MARKS = {
    "complete": ("all complete trials", BLUE, "circle", -0.1),
    "let run": ("trials that no verdict could stop", ORANGE, "diamond", 0.1),
}
"""Name, colour, symbol and offset from the rung (rungs are 1 apart) of each sample."""


def rung_fidelity_data(contents: Contents) -> pd.DataFrame:
    """Return a row per rung and sample of trials; NaN without a correlation.

    Columns: those of `rse_study.frames.study_results.StudyResults.rung_fidelity`.
    """
    return fidelity_of(contents.study, contents.current, contents.curves)


def draw_rung_fidelity(frame: pd.DataFrame) -> go.Figure:
    """Draw Spearman's rho between each rung and the end, with its 95% interval."""
    figure, steps = go.Figure(), sorted(frame["t"].unique())
    frame = frame.dropna(subset="spearman")
    column = {t: place for place, t in enumerate(steps)}
    for sample, (name, colour, symbol, aside) in MARKS.items():
        part = frame[frame["sample"] == sample]
        if part.empty:
            continue
        rho = part["spearman"]
        bars = {"array": part["spearman_high"] - rho, "arrayminus": rho - part["spearman_low"]}
        figure.add_scatter(
            x=part["t"].map(column) + aside, y=rho, name=name, mode="markers",
            text=[hover(row) for row in part.itertuples()], hovertemplate="%{text}<extra></extra>",
            marker={"symbol": symbol, "color": colour, "size": 10},
            error_y={"type": "data", "symmetric": False, **bars, "color": colour, "thickness": 2, "width": 5},
        )  # fmt: skip
    figure.add_hline(y=LEAST, line={"color": GREY, "width": 1.2, "dash": "dash"})
    figure.add_hline(y=0, line={"color": GREY, "width": 1, "dash": "dot"})
    figure.update_xaxes(
        tickvals=list(column.values()), ticktext=[f"step {t}" for t in steps], showgrid=False,
        range=[-0.5, len(steps) - 0.5], tickfont={"color": INK},
    )  # fmt: skip
    lowest = min(-0.1, float(frame["spearman_low"].min()) - 0.05)
    figure.update_yaxes(title="Spearman's rho<br>with the end", range=[lowest, 1.05], nticks=7)
    return legend_below(plain(figure, height=380))


def hover(row: Any) -> str:
    """Return the hover text of a row."""
    rho = show_with_interval(row.spearman, row.spearman_low, row.spearman_high)
    return f"step {row.t}, {row.num_trials} trials: rho {rho}, tau-b {show_number(row.kendall)}"
