"""Mean differences of rows: on one scale for all measures, and by number of seeds."""

from collections.abc import Iterable, Mapping
from math import ceil, inf, isfinite, nan
from typing import Any

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from analysis.columns import TableCell
from analysis.contents import Contents, label_of
from analysis.figures import style
from analysis.formats import decimals_of, show_signed
from analysis.scores import measures_of, result_scores
from rse_study.results.comparing import comparisons
from rse_study.results.comparing.contrasts import Family
from rse_study.results.comparing.criterion import Criterion, criterion_of, with_outcomes
from rse_study.results.comparing.row_seeds import RowSeeds
from rse_study.results.records import BASELINES
from rse_study.results.row_names import own_baseline
from rse_study.results.study_record import is_in_points

COLUMNS = ["view", "measure", "row", "minus", "difference", "low", "high", "n", "paper", "decimals"]
POINTS = "all measures in points"
SPREAD, LANE = 0.72, 13  # share of a row's height that its measures take, and pixels of each
DECISIONS_COLUMNS = ["row", "num_seeds", "mean", "low", "high", "verdict"]
PANELS_ACROSS, PANEL_HEIGHT, MOST_PANELS = 3, 190, 24
VERDICT_COLOURS = {"better": style.BLUE, "worse": style.ORANGE, "same": style.GREY, "undecided": style.FAINT}


def differences_data(
    contents: Contents, frame: pd.DataFrame, minus: str = "", printed: Mapping[str, float] | None = None
) -> pd.DataFrame:
    """Return each row minus one of them, on every measure that both have.

    `frame` is that of `scores.scores`. By default `minus` is the grid's baseline, the base, or else the
    encoder before training. Columns: view (measures in points share one scale), measure, row, minus, difference (mean
    over shared seeds), low and high (95% for all rows of a measure at once, by the study's criterion; NaN below 3 seeds
    and where it has no bounds), n (seeds), paper (the difference of `printed` values of the objective), decimals.
    """
    study, rows = contents.study, []
    rule = criterion_of(study, contents.revisions, contents.cells)
    metrics = measures_of(study, contents.label) | {label_of(one): one.metric for one in study.all_objectives}
    for measure, every in frame.groupby("measure", sort=False):
        table, own = _table_beside(contents, every.dropna(subset="value"), minus)
        if not own:
            continue
        rule = with_outcomes(rule, every.dropna(subset="seed"), own)
        view = POINTS if is_in_points(study, metrics[measure]) else contents.with_units.get(measure, measure)
        paper = (printed or {}) if measure == contents.label else {}
        places = contents.decimals_by_measure[measure]
        samples = {
            row: comparisons.differences(table, one) for row, one in comparisons.against(table, own).items()
        }
        known = [sample for sample in samples.values() if len(sample) >= comparisons.MIN_SEEDS]
        num_together = len(samples if rule.is_anytime or rule.waiting else known)
        for row, sample in samples.items():
            here = rule.on((row, own))
            is_sure = len(sample) >= comparisons.MIN_SEEDS and not here.is_lost
            interval = here.interval(sample, num_together) if is_sure else comparisons.NO_INTERVAL
            of_paper, n = paper.get(row, nan) - paper.get(own, nan), len(sample)
            mean = float(sample.mean()) if n else nan
            rows.append((view, measure, row, own, mean, interval.low, interval.high, n, of_paper, places))
    return bounded(pd.DataFrame(rows, columns=COLUMNS).dropna(subset="difference"))


def _table_beside(contents: Contents, part: pd.DataFrame, minus: str) -> tuple[pd.DataFrame, str]:
    """Return scores [rows, seeds] with the row that is subtracted, and its name; "" without one."""
    seeded, fixed = (part[(part["kind"] == "baseline") == wanted] for wanted in (False, True))
    table = seeded.pivot(index="row", columns="seed", values="value").reindex(dict.fromkeys(seeded["row"]))
    own = [minus] if minus else [own_baseline(contents.study, contents.cells), BASELINES["start"]]
    values = fixed.set_index("row")["value"]
    name = next((one for one in own if one in table.index or one in values), "")
    if name in values and len(table):
        table.loc[name] = values[name]
    return table, name


def bounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Replace infinite ends of intervals by NaN."""
    return frame.assign(**{end: frame[end].replace([-inf, inf], nan) for end in ("low", "high")})


def columns_forest_data(cells: Iterable[TableCell]) -> pd.DataFrame:
    """Return the same frame for the columns of a paper's table, a view for each.

    Names of columns include the block if there is more than one.
    """
    compared = [cell for cell in cells if cell.interval is not None]
    blocks = {cell.column.block for cell in compared}
    rows = []
    for cell in compared:
        name = f"{cell.column.block}, {cell.column.name}" if len(blocks) > 1 else cell.column.name
        assert cell.interval is not None
        rows.append((
            name, name, cell.row, cell.minus, cell.difference, cell.interval.low, cell.interval.high,
            len(cell.sample), cell.printed_difference, decimals_of(cell.column.metric),
        ))  # fmt: skip
    return pd.DataFrame(rows, columns=COLUMNS)


def family_forest_data(found: Family, decimals: Mapping[str, int]) -> pd.DataFrame:
    """Return the same frame for effects or planned contrasts, a view for each measure."""
    known = found.frame.dropna(subset="sd")
    is_anytime = known["criterion"] == "anytime"
    is_lost = known["excludes_zero"] & (known["verdict"] == "undecided")
    ends = {
        end: known[f"anytime_{end}"].where(is_anytime, known[f"simultaneous_{end}"]).mask(is_lost)
        for end in ("low", "high")
    }
    shown = known[["measure", found.noun, "mean", "num_seeds"]]
    shown = shown.set_axis(["measure", "row", "difference", "n"], axis=1).assign(
        **ends, view=shown["measure"], minus="", paper=nan, decimals=shown["measure"].map(decimals)
    )
    return bounded(shown)[COLUMNS]


def draw_forest(frame: pd.DataFrame, margin: float = 0.0, of: str = "") -> go.Figure:
    """Draw each row's differences on all measures of a view.

    A diamond is the paper's difference. A band shows the margin, if there is one, in the view `of` which it is.
    """
    figure, views = go.Figure(), list(dict.fromkeys(frame["view"]))
    parts = [frame[frame["view"] == view] for view in views]
    rows = [list(dict.fromkeys(part["row"])) for part in parts]
    for view, part, names in zip(views, parts, rows, strict=True):
        add_view(figure, part, names, view)
    if margin:
        figure.add_vrect(
            x0=-margin, x1=margin, fillcolor=style.FAINT, opacity=0.3, line_width=0, layer="below"
        )
    figure.add_vline(x=0, line={"color": style.GREY, "width": 1.2})
    lanes = [part["measure"].nunique() for part in parts]
    ticks = [style.row_ticks(names) for names in rows]
    heights = [
        style.rows_height(texts, max(26, 8 + LANE * num)) for texts, num in zip(ticks, lanes, strict=True)
    ]
    style.plain(figure, height=170 + 12 * max(lanes, default=0) + max(heights, default=0))
    minus = [str(part["minus"].iloc[0]) for part in parts]
    layouts = [rows_layout(*one) for one in zip(ticks, minus, strict=True)]
    for view, layout in zip(views, layouts, strict=True) if margin and of else ():
        layout["shapes[0].visible"] = view == of
    return style.add_views(style.legend_below(figure), {view: view for view in views}, layouts)


def rows_layout(texts: list[str], minus: str) -> dict[str, object]:
    """Return plotly's settings of both axes: a line per row, the first on top."""
    return {
        "yaxis.tickvals": list(range(len(texts))), "yaxis.ticktext": texts,
        "yaxis.range": [len(texts) - 0.4, -0.6], "xaxis.autorange": True,
        "xaxis.title.text": style.label_text(f"difference from {minus}" if minus else "difference", 26),
    }  # fmt: skip


def add_view(figure: go.Figure, frame: pd.DataFrame, rows: list[str], view: str) -> None:
    """Add a trace per measure, with full marks where the interval excludes 0."""
    measures = list(dict.fromkeys(frame["measure"]))
    for number, measure in enumerate(measures):
        some = frame[frame["measure"] == measure]
        lane = SPREAD * ((number + 0.5) / len(measures) - 0.5)
        heights = [rows.index(row) + lane for row in some["row"]]
        colour, symbol = (
            cycle[number % len(cycle)] for cycle in (style.SEED_COLOURS, style.SEED_SYMBOLS[:-1])
        )
        is_sure = (some["low"] > 0) | (some["high"] < 0)
        look = {"color": colour, "thickness": 1.6, "width": 3}
        arms = style.arms(some["difference"], some["low"], some["high"], **look)
        figure.add_scatter(
            x=some["difference"], y=heights, mode="markers", name=style.label_text(measure, 40), error_x=arms,
            meta=view, ids=some["row"], text=[hover(row) for row in some.itertuples()], showlegend=True,
            marker={"size": 8, "color": colour, "symbol": [symbol + "-open" * (not sure) for sure in is_sure],
                    "line": {"width": 2, "color": colour}},
            hovertemplate="%{text}<extra></extra>",
        )  # fmt: skip
        printed = some.assign(height=heights).dropna(subset="paper")
        if len(printed):
            figure.add_scatter(
                x=printed["paper"], y=printed["height"], mode="markers", name="the paper's", meta=view,
                marker={"size": 10, "color": style.ORANGE, "symbol": "diamond-open", "line": {"width": 2}},
                ids=printed["row"],
                text=[
                    f"the paper: {style.label_text(row.row, 40)} {show_signed(row.paper, row.decimals)}"
                    for row in printed.itertuples()
                ],
                hovertemplate="%{text}<extra></extra>",
            )  # fmt: skip


def hover(row: Any) -> str:
    """Return the hover text of a row: difference, interval, seeds."""
    difference, low, high = (
        show_signed(value, row.decimals) for value in (row.difference, row.low, row.high)
    )
    bounds = f"{low} to {high}" if low else "no bounds yet"
    where = f"{style.label_text(row.row, 40)} on {style.label_text(row.measure, 40)}"
    return f"{where}: {difference}<br>{bounds}, {row.n} seeds"


def decisions_data(contents: Contents, rows: RowSeeds) -> pd.DataFrame:
    """Return a line per row or confirmed trial and number of seeds, from the second.

    Columns: row, num_seeds, mean (of row minus baseline), low and high of its confidence sequence over all rows (NaN
    where so few seeds exclude nothing), verdict. Seeds count in their order, those alone that both rows have.
    """
    frame, found = result_scores(contents).dropna(subset="seed"), []
    part = frame[frame["measure"] == contents.label]
    table = part.pivot(index="row", columns="seed", values="value").reindex(dict.fromkeys(part["row"]))
    baseline = own_baseline(contents.study, contents.cells)
    known = comparisons.against(table, baseline) if baseline in table.index else {}
    rule = Criterion(True, margin=rows.margin, less_is_better=rows.less_is_better)
    rule = with_outcomes(rule, part, baseline)
    for row, weights in known.items():
        by_seed = comparisons.differences_by_seed(table, weights)
        sample = [by_seed[seed] for seed in sorted(by_seed)]
        for num in range(2, len(sample) + 1):
            interval = rule.interval(sample[:num], max(1, rows.num_rows - 1))
            low, high = (end if isfinite(end) else nan for end in (interval.low, interval.high))
            found.append((row, num, sum(sample[:num]) / num, low, high, rule.on(weights).verdict(interval)))
    return pd.DataFrame(found, columns=DECISIONS_COLUMNS)


def draw_decisions(frame: pd.DataFrame, margin: float, decimals: int = 2) -> go.Figure:
    """Draw a small plot for each of the first rows, in the colour of its last verdict."""
    names = list(dict.fromkeys(frame["row"]))[:MOST_PANELS]
    last = frame.groupby("row")["verdict"].last()
    down = max(1, ceil(len(names) / PANELS_ACROSS))
    titles = [style.label_text(f"{name}: {last[name]}", 34) for name in names]
    figure = make_subplots(
        down,
        PANELS_ACROSS,
        subplot_titles=titles,
        shared_xaxes="all",
        shared_yaxes="all",
        horizontal_spacing=0.03,
    )
    for place, name in enumerate(names):
        part, colour = frame[frame["row"] == name], VERDICT_COLOURS[last[name]]
        at, shown = {"row": place // PANELS_ACROSS + 1, "col": place % PANELS_ACROSS + 1}, part.dropna()
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
    style.plain(figure, height=PANEL_HEIGHT * down + 80).update_layout(showlegend=False)
    for level in {0.0, margin, -margin} if names else ():
        figure.add_hline(level, line={"color": style.GREY, "width": 1, "dash": "dot" if level else "solid"})
    figure.update_annotations(font={"size": 12}).update_layout(margin={"t": 48})
    figure.update_xaxes(title="seeds", row=down).update_yaxes(title="difference", col=1)
    return figure
