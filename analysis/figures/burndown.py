"""The progress of a study: cells left, and device time spent against the plan."""

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.contents import Contents
from analysis.cost import attempt_seconds
from analysis.figures.style import BLUE, GREY, ORANGE, legend_below, plain
from analysis.figures.timeline import unit_of

COLUMNS = ["seconds", "cell", "status", "left", "spent_s", "planned_low_s", "planned_high_s"]


def burndown_data(contents: Contents, names: dict[str, str]) -> pd.DataFrame:
    """Return a row per cell that ended, in the order of the ends.

    Columns: seconds (since the first start; 0 for a cell that another study ran), cell (by `names`), status, left
    (planned cells that have not ended), spent_s (device time of the attempts that ended by then, without retired
    ones), planned_low_s and planned_high_s (for the whole study; NaN unless its file gives hours per cell).
    """
    study, cells = contents.study, contents.current
    ended = cells[(cells["ended"] != "") & cells["status"].isin(["complete", "stopped_early", "failed"])]
    ended = ended.assign(at=pd.to_datetime(ended["ended"], utc=True)).sort_values(["at", "trial", "seed"])
    started = pd.to_datetime(contents.attempts["started"].replace("", None), utc=True).min()
    spent = spent_by(contents, ended["at"])
    num_planned = max(study.num_cells, len(cells))
    low, high = hours_per_cell(contents)
    frame = ended.assign(
        seconds=(ended["at"] - started).dt.total_seconds().clip(lower=0.0),
        cell=ended["identity"].map(names),
        left=[num_planned - number for number in range(1, len(ended) + 1)],
        spent_s=spent,
        planned_low_s=3600 * low * num_planned,
        planned_high_s=3600 * high * num_planned,
    )
    return frame[COLUMNS].reset_index(drop=True)


def spent_by(contents: Contents, ends: pd.Series) -> list[float]:
    """Return the device seconds that current cells had used at each time."""
    is_current = contents.attempts["cell"].isin(contents.current["identity"])
    ended = pd.to_datetime(contents.attempts["ended"].replace("", None), utc=True)
    ended = ended[is_current].dropna().sort_values()
    sums = [0.0, *attempt_seconds(contents)[ended.index].cumsum()]
    return [sums[number] for number in ended.searchsorted(ends, side="right")]


def hours_per_cell(contents: Contents) -> tuple[float, float]:
    """Return the hours per cell (low, high) in the study's file, or NaN."""
    said = contents.study.settings.allowance.get("hours_per_cell")
    low, high = said or (float("nan"), float("nan"))
    return float(low), float(high)


def draw_burndown(frame: pd.DataFrame) -> go.Figure:
    """Draw cells left above and device time below, with plan and projection dashed."""
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    length, unit = unit_of(float(frame["seconds"].max()))
    device_length, device_unit = unit_of(float(frame["spent_s"].max()))
    num_planned = int(frame["left"].iloc[0]) + 1
    xs = [0.0, *(frame["seconds"] / length)]
    figure.add_scatter(
        x=xs, y=[num_planned, *frame["left"]], mode="lines", name="cells left",
        line={"shape": "hv", "color": BLUE, "width": 2},
        text=["start", *(f"{cell}: {status.replace('_', ' ')}" for cell, status in frame[["cell", "status"]].values)],
        hovertemplate="%{text}<br>%{y} left<extra></extra>", row=1, col=1,
    )  # fmt: skip
    figure.add_scatter(
        x=xs, y=[0.0, *(frame["spent_s"] / device_length)], mode="lines", name="device time spent",
        line={"shape": "hv", "color": ORANGE, "width": 2}, row=2, col=1,
        hovertemplate=f"%{{y:.3g}} device {device_unit}<extra></extra>",
    )  # fmt: skip
    add_expected(figure, frame, device_length, device_unit)
    figure.update_xaxes(rangemode="tozero", nticks=7)
    figure.update_xaxes(title=f"{unit} since the first start", row=2, col=1)
    figure.update_yaxes(title="cells left", rangemode="tozero", nticks=5, row=1, col=1)
    figure.update_yaxes(title=f"device<br>{device_unit}", rangemode="tozero", nticks=5, row=2, col=1)
    return legend_below(plain(figure, height=430))


def add_expected(figure: go.Figure, frame: pd.DataFrame, length: float, unit: str) -> None:
    """Add lines for the planned total time and the total at the present pace."""
    num_ran = int((frame["seconds"] > 0).sum())  # the others ran in another study
    left, spent = int(frame["left"].iloc[-1]), float(frame["spent_s"].iloc[-1])
    expected = {
        "planned, low": float(frame["planned_low_s"].iloc[0]),
        "planned, high": float(frame["planned_high_s"].iloc[0]),
        "whole study at this pace": spent * (num_ran + left) / num_ran if left and num_ran else float("nan"),
    }  # fmt: skip
    last = float(frame["seconds"].max()) / unit_of(float(frame["seconds"].max()))[0]
    for (name, seconds), dash in zip(expected.items(), ("dot", "dash", "dashdot"), strict=True):
        if pd.notna(seconds):
            figure.add_scatter(
                x=[0, last], y=[seconds / length] * 2, mode="lines", name=f"{name}: {seconds / length:.3g} {unit}",
                line={"color": GREY, "dash": dash, "width": 1.5}, hoverinfo="name", hoverlabel={"namelength": -1},
                row=2, col=1,
            )  # fmt: skip
