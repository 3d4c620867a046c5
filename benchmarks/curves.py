"""Gains of methods at equal compute, by forward passes.

python -m benchmarks.curves STUDY.tar.xz [--out FOLDER]

Reads an archive of `search_spaces/minilm/curves_minilm.yaml` and trains nothing. At each budget every method minus
SimCSE, all minus SimCSE at a smaller rate, and delta minus noise, on the mean of the five test sets, as planned, and on
STS-B dev and each set beside it, paired by seed: 95% intervals hold at once for the methods at a budget, for new seeds
and for new seeds and new pairs (crossed). Student's intervals, as planned, stand beside those that decide, which are
confidence sequences where the study's record has seeds that were added. `--out` writes the table and each cell's values
as CSV, and the picture.
"""

from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import HEADER, Units, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import COLOURS
from rse_study.results.comparing.comparisons import by_subject
from rse_study.results.comparing.item_contrasts import measured_items
from rse_study.results.reader import Reader
from rse_study.results.row_names import own_baseline

SIMCSE, START = "SimCSE", "before training"
OTHER_RATE = "SimCSE at 3e-5"
CONTROLS = (SIMCSE, OTHER_RATE, "noise")
ROBUST = "RobustSentEmbed"
MORE_STEPS = f"{ROBUST} at N = 16"
SIDESTEP = 1.025  # of a method's points beside those of the one before, so that their bars can be told apart
SETS = ("STS12", "STS14", "STS15", "STS-B", "SICK-R")
DEV, AVERAGE = "STS-B dev", "mean of five test sets"
NAMES = {"": DEV, **{f"{name}/test/all": f"{name} test" for name in SETS}}


def main(arguments: list[str] | None = None) -> None:
    """Print the tables of an archive."""
    with archived("curves", arguments) as (reader, folder):
        units, starts = units_of(reader), starts_of(reader)
    curves, cells = curves_of(units), cells_of(units, starts)
    for measure, some in curves.groupby("measure", sort=False):
        print(f"\n{measure}, {starts[measure]:.2f} {START}\n\n{table_of(some)}")
    write_tables(folder, curves=curves, cells=cells)
    if folder:
        picture(cells).write_image(folder / "curves.png", width=1000, height=420)


def units_of(reader: Reader) -> dict[str, Units]:
    """Return each measure's scores over seeds, those of the sets' mean first.

    Pairs of a set are resampled apart from those of the others. Of the mean, the smallest set counts for the degrees of
    freedom.
    """
    measured = measured_items(reader, minus=own_baseline(reader.study(), reader.cells()))
    by_name = {NAMES[one.metric]: seeds_of(one) for one in measured if one.metric in NAMES}
    sets = [by_name[f"{name} test"] for name in SETS]
    resampled = {cell: np.mean([one.resampled[cell] for one in sets], axis=0) for cell in sets[0].resampled}
    tables = pd.concat([one.table for one in sets], keys=range(len(sets)))
    average = tables.groupby(level=1, sort=False).mean()
    smallest = min(one.num_items for one in sets)
    return {AVERAGE: Units(average, resampled, smallest, sets[0].criterion), **by_name}


def starts_of(reader: Reader) -> dict[str, float]:
    """Return the encoder's score before training, by measure."""
    objective = reader.study().objective.evaluation
    found = {name: by_subject(reader, metric or objective)["start"] for metric, name in NAMES.items()}
    return {AVERAGE: float(np.mean([found[f"{name} test"] for name in SETS])), **found}


def curves_of(units: Mapping[str, Units]) -> pd.DataFrame:
    """Return the differences on each measure, a row each.

    Methods minus SimCSE at each budget, all minus SimCSE at its other rate, delta minus noise: families of their own.
    So are those of RobustSentEmbed with more steps of ascent, minus SimCSE and minus itself with fewer, at all budgets.
    """
    lines = []
    for name, one in units.items():
        means = one.table.mean(axis=1)
        for family in families_of(one.table.index):
            pairs = [(f"{method}, {passes}", f"{minus}, {passes}") for method, minus, passes in family]
            compared = crossed_contrasts(one, [{row: 1.0, other: -1.0} for row, other in pairs])
            lines += [
                {"measure": name, "passes": int(passes), "method": method, "minus": minus}
                | {"mean": means[row], "mean_of_other": means[other]}
                | columns_of(*found)
                | {"t_low": found[0].simultaneous.low, "t_high": found[0].simultaneous.high}
                for (method, minus, passes), (row, other), found in zip(family, pairs, compared, strict=True)
                if found is not None
            ]
    return pd.DataFrame(lines)


def families_of(rows: Iterable[str]) -> list[list[tuple[str, str, str]]]:
    """Return what is compared at once: method, what it is compared with, passes."""
    by_budget: dict[str, list[str]] = {}
    of_more_steps = []
    for row in rows:
        method, passes = row.rsplit(", ", 1)
        if method == MORE_STEPS:
            of_more_steps += [(MORE_STEPS, SIMCSE, passes), (MORE_STEPS, ROBUST, passes)]
        else:
            by_budget.setdefault(passes, []).append(method)
    budgets = sorted(by_budget.items(), key=lambda one: int(one[0]))
    return [
        *([(one, SIMCSE, passes) for one in methods if one not in CONTROLS] for passes, methods in budgets),
        *(
            [(one, OTHER_RATE, passes) for one in methods if one not in CONTROLS[1:]]
            for passes, methods in budgets
            if OTHER_RATE in methods
        ),
        *([("delta", "noise", passes)] for passes, methods in budgets if "noise" in methods),
        *([of_more_steps] if of_more_steps else []),
    ]


def cells_of(units: Mapping[str, Units], starts: Mapping[str, float]) -> pd.DataFrame:
    """Return each cell's scores by measure; the first row is before training."""
    by_measure = {name: one.table.stack() for name, one in units.items()}
    frame = pd.DataFrame(by_measure).rename_axis(["row", "seed"]).reset_index()
    parts = frame.pop("row").str.rsplit(", ", n=1)
    frame.insert(0, "method", parts.str[0])
    frame.insert(1, "passes", parts.str[1].astype(int))
    first = {"method": START, "passes": 0, **starts}
    return pd.concat([pd.DataFrame([first]), frame], ignore_index=True)


def table_of(rows: pd.DataFrame) -> str:
    """Return the differences on one measure as a Markdown table."""
    return markdown_table(
        ["passes", "method", "minus", "mean", "of the other", *HEADER, "Student's"],
        [
            (
                f"{row.passes:,}",
                row.method,
                row.minus,
                f"{row.mean:.2f}",
                f"{row.mean_of_other:.2f}",
                *shown(row),
                f"[{row.t_low:+.2f}, {row.t_high:+.2f}]",
            )
            for row in rows.itertuples()
        ],
    )


def picture(cells: pd.DataFrame) -> go.Figure:
    """Return each method's curve by passes, with bars of one SD over seeds."""
    measures = (AVERAGE, DEV)
    figure = make_subplots(cols=len(measures), subplot_titles=measures, horizontal_spacing=0.06)
    start, trained = cells.iloc[0], cells.iloc[1:]
    colours = dict(
        zip(trained["method"].unique(), ("black", *COLOURS, "#dc2626", "#6b7280", "#be185d"), strict=True)
    )
    for place, measure in enumerate(measures, 1):
        for rank, (method, some) in enumerate(trained.groupby("method", sort=False)):
            by_budget = some.groupby("passes")[measure]
            means, bars = by_budget.mean(), {"array": by_budget.std(), "type": "data"}
            line = {"color": colours[method]}
            shared = {"name": method, "line": line, "showlegend": place == 1, "row": 1, "col": place}
            beside = means.index * SIDESTEP ** (rank - len(colours) // 2)
            figure.add_scatter(x=beside, y=means, error_y=bars, mode="lines+markers", **shared)
        figure.add_hline(y=start[measure], line_dash="dot", annotation_text=START, row=1, col=place)
    figure.update_layout(legend={"orientation": "h", "y": 1.25}, template="plotly_white", margin={"t": 20})
    budgets = list(trained["passes"].unique())
    ticks = {"tickvals": budgets, "ticktext": [f"{passes:,}" for passes in budgets]}
    figure.update_xaxes(type="log", title="forward passes of a view (log scale)", **ticks)
    return figure.update_yaxes(title="Spearman x 100", col=1)


if __name__ == "__main__":
    main()
