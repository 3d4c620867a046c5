"""Each row's way to its decision: the confidence sequence by number of seeds."""

from math import ceil, isfinite, nan

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.contents import Contents
from analysis.figures.style import BLUE, FAINT, GREY, ORANGE, label_text, plain
from analysis.scores import result_scores
from rse_study.results.comparing.comparisons import against, differences_by_seed
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.comparing.outcomes import with_outcomes
from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.row_names import own_baseline

COLUMNS = ["row", "num_seeds", "mean", "low", "high", "verdict"]
ACROSS, HEIGHT, MAX_ROWS = 3, 190, 24
COLOURS = {"better": BLUE, "worse": ORANGE, "same": GREY, "undecided": FAINT}


def decisions_data(contents: Contents, rows: RowSeeds) -> pd.DataFrame:
    """Return a line per row or confirmed trial and number of seeds, from the second.

    Columns: row, num_seeds, mean (of row minus baseline), low and high of its confidence sequence over all rows (NaN
    where so few seeds exclude nothing), verdict. Seeds count in their order, those alone that both rows have.
    """
    frame, found = result_scores(contents).dropna(subset="seed"), []
    part = frame[frame["measure"] == contents.label]
    table = part.pivot(index="row", columns="seed", values="value").reindex(dict.fromkeys(part["row"]))
    baseline = own_baseline(contents.study, contents.cells)
    known = against(table, baseline) if baseline in table.index else {}
    rule = Criterion(True, margin=rows.margin, less_is_better=rows.less_is_better)
    rule = with_outcomes(rule, part, baseline)
    for row, weights in known.items():
        by_seed = differences_by_seed(table, weights)
        sample = [by_seed[seed] for seed in sorted(by_seed)]
        for num in range(2, len(sample) + 1):
            interval = rule.interval(sample[:num], max(1, rows.num_rows - 1))
            low, high = (end if isfinite(end) else nan for end in (interval.low, interval.high))
            found.append((row, num, sum(sample[:num]) / num, low, high, rule.on(weights).verdict(interval)))
    return pd.DataFrame(found, columns=COLUMNS)


def draw_decisions(frame: pd.DataFrame, margin: float, decimals: int = 2) -> go.Figure:
    """Draw a small plot for each of the first rows, in the colour of its last verdict."""
    names = list(dict.fromkeys(frame["row"]))[:MAX_ROWS]
    last = frame.groupby("row")["verdict"].last()
    down = max(1, ceil(len(names) / ACROSS))
    titles = [label_text(f"{name}: {last[name]}", 34) for name in names]
    figure = make_subplots(
        down, ACROSS, subplot_titles=titles, shared_xaxes="all", shared_yaxes="all", horizontal_spacing=0.03
    )
    for place, name in enumerate(names):
        part, colour = frame[frame["row"] == name], COLOURS[last[name]]
        at, shown = {"row": place // ACROSS + 1, "col": place % ACROSS + 1}, part.dropna()
        figure.add_scatter(
            x=[*shown["num_seeds"], *shown["num_seeds"][::-1]], y=[*shown["high"], *shown["low"][::-1]], fill="toself",
            mode="lines", fillcolor=colour, opacity=0.25, line={"width": 0}, hoverinfo="skip", **at,
        )  # fmt: skip
        figure.add_scatter(
            x=part["num_seeds"], y=part["mean"], mode="lines+markers", line={"color": colour, "width": 2},
            customdata=part[["low", "high", "verdict"]],
            hovertemplate=f"%{{x}} seeds: %{{y:.{decimals}f}} [%{{customdata[0]:.{decimals}f}}, "
            f"%{{customdata[1]:.{decimals}f}}], %{{customdata[2]}}<extra></extra>", **at,
        )  # fmt: skip
    plain(figure, height=HEIGHT * down + 80).update_layout(showlegend=False)
    for level in {0.0, margin, -margin} if names else ():
        figure.add_hline(level, line={"color": GREY, "width": 1, "dash": "dot" if level else "solid"})
    figure.update_annotations(font={"size": 12}).update_layout(margin={"t": 48})
    figure.update_xaxes(title="seeds", row=down).update_yaxes(title="difference", col=1)
    return figure
