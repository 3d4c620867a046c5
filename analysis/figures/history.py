"""A search trial by trial: complete trials, best so far, and early ends below."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.figures.style import BLUE, DASHES, GREY, ORANGE, label_text, plain

ENDED_BEFORE = {"stopped_early": ("circle-open", "stopped early"), "failed": ("x-thin-open", "failed")}


def history_data(table: pd.DataFrame, direction: str) -> pd.DataFrame:
    """Return the trials in order, with the best objective so far.

    Columns: trial, objective, t, status, best, best_so_far (of complete cells).
    """
    columns = ["trial", "objective", "t", "status", "best"]
    frame = table[columns].sort_values("trial").reset_index(drop=True)
    complete = frame["objective"].where(frame["status"] == "complete")
    running = complete.cummax() if direction == "maximize" else complete.cummin()
    return frame.assign(best_so_far=running.ffill())


def draw_history(frame: pd.DataFrame, scores: pd.DataFrame, label: str, decimals: int = 2) -> go.Figure:
    """Draw complete trials, the best so far, baselines, and early ends in a strip."""
    ended = frame[frame["status"].isin(ENDED_BEFORE)]
    parts = {"rows": 2, "shared_xaxes": True, "vertical_spacing": 0.06, "row_heights": [0.74, 0.26]}
    figure = make_subplots(**parts) if len(ended) else go.Figure()
    add_complete(figure, frame, decimals)
    shown = near(frame, scores)
    add_baselines(figure, scores, frame["trial"], decimals, shown)
    figure.update_yaxes(title=label_text(label, 18))
    figure.update_yaxes(range=shown, **({"row": 1, "col": 1} if len(ended) else {}))
    if len(ended):
        add_ended_before(figure, ended, decimals)
    ticks = {"dtick": 1} if len(frame) <= 8 else {"nticks": 20, "tickangle": 0}
    figure.update_xaxes(tickformat="d", range=span(frame["trial"]), **ticks)
    figure.update_xaxes(title="trial", **({"row": 2, "col": 1} if len(ended) else {}))
    return plain(figure, height=520 if len(ended) else 420)


def add_complete(figure: go.Figure, frame: pd.DataFrame, decimals: int) -> None:
    """Add the complete trials and the best so far."""
    figure.add_scatter(
        x=frame["trial"], y=frame["best_so_far"], name="best so far", mode="lines",
        line={"shape": "hv", "color": GREY, "width": 2}, hoverinfo="skip",
    )  # fmt: skip
    complete = frame[frame["status"] == "complete"]
    for is_best, name, colour in ((False, "complete", BLUE), (True, "best", ORANGE)):
        part = complete[complete["best"] == is_best]
        figure.add_scatter(
            x=part["trial"], y=part["objective"], name=name, marker={"size": 10, "color": colour}, ids=part["trial"],
            mode="markers+text" if is_best else "markers", text=part["trial"], textposition="top center",
            cliponaxis=False, hovertemplate=f"trial %{{x}}: %{{y:.{decimals}f}}<extra></extra>",
        )  # fmt: skip


def add_ended_before(figure: go.Figure, ended: pd.DataFrame, decimals: int) -> None:
    """Add the strip: each early trial's last step, with its value on hover."""
    for status, (symbol, name) in ENDED_BEFORE.items():
        part = ended[ended["status"] == status]
        if part.empty:
            continue
        texts = [
            ended_text(name, *row) for row in zip(part["trial"], part["t"], part["objective"], strict=True)
        ]
        figure.add_scatter(
            x=part["trial"], y=part["t"].fillna(0), name=name, mode="markers", text=texts, row=2, col=1,
            marker={"size": 10, "symbol": symbol, "color": BLUE if status == "stopped_early" else ORANGE,
                    "line": {"width": 2}},
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
    figure.update_yaxes(title="ended<br>at step", rangemode="tozero", nticks=5, row=2, col=1)


def ended_text(name: str, trial: int, t: object, objective: float) -> str:
    """Return how a trial ended: "trial 3: stopped early at step 15, 54.20 there"."""
    if pd.isna(t):
        return f"trial {trial}: {name} before its first value"
    return f"trial {trial}: {name} at step {t}" + ("" if pd.isna(objective) else f", {objective:.2f} there")


def add_baselines(
    figure: go.Figure, scores: pd.DataFrame, trials: pd.Series, decimals: int, shown: list[float] | None
) -> None:
    """Add a dashed line for each baseline; the legend names those outside the figure."""
    for row in scores.dropna(subset="value").itertuples():
        outside = " (outside)" if shown and not shown[0] <= row.value <= shown[1] else ""
        figure.add_scatter(
            x=span(trials), y=[row.value, row.value], name=f"{row.label}: {row.value:.{decimals}f}{outside}",
            mode="lines", line={"color": GREY, "dash": DASHES[row.subject], "width": 1.5},
            hoverinfo="name", hoverlabel={"namelength": -1},
        )  # fmt: skip


def near(frame: pd.DataFrame, scores: pd.DataFrame) -> list[float] | None:
    """Return a range with all complete trials and the baselines near them."""
    found = frame.loc[frame["status"] == "complete", "objective"].dropna()
    if found.nunique() < 2:
        return None
    spread = found.max() - found.min()
    values = pd.concat(
        [found, scores["value"][scores["value"].between(found.min() - 3 * spread, found.max() + 3 * spread)]]
    )
    margin = 0.08 * (values.max() - values.min())
    return [values.min() - margin, values.max() + margin]


def span(trials: pd.Series) -> list[float]:
    """Return the range of trials with a margin, so that no dot is cut."""
    if trials.empty:
        return [-0.5, 0.5]
    margin = max(0.5, 0.02 * float(trials.max() - trials.min()))
    return [trials.min() - margin, trials.max() + margin]
