"""Planned contrasts of the strength studies, gradient ascent minus its controls.

python -m benchmarks.strength STUDY.tar.xz ... [--out FOLDER]

Reads archives of `search_spaces/minilm/strength*.yaml` and trains nothing. At each step size, gradient minus noise and
gradient minus flipped, as planned, and flipped minus noise beside them, paired by seed. 95% intervals hold at once for
all contrasts of a study and measure, for new seeds and for new seeds and new pairs (crossed). The inner loss is in nats
above its value without the ascent. `--out` writes the table as CSV, each cell's values, and the picture.
"""

import argparse
import re
from collections.abc import Iterator, Mapping
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import pandas as pd
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from benchmarks.crossed import columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from rse_study.results.archive import unpack_archive
from rse_study.results.comparing.comparisons import by_subject, row_scores
from rse_study.results.comparing.item_contrasts import MeasuredItems, measured_items
from rse_study.results.reader import Reader

ROW = re.compile(r"beta = (?P<beta>\S+), ascent = (?P<ascent>\w+)")
PLANNED = (("gradient", "noise"), ("gradient", "flipped"))
OF_CONTROLS = (("flipped", "noise"),)
DEV, TEST = "", "STS-B/test/all"
NAMES = {DEV: "STS-B dev", TEST: "STS-B test"}
LADDERS = {
    "strength-minilm": "[CLS], 8",
    "strength-64-minilm": "[CLS], 64",
    "strength-mean-minilm": "mean, 8",
    "strength-mean-64-minilm": "mean, 64",
}
POOLINGS = ("[CLS]", "mean pooling")
SIDESTEPS = {"gradient": 1.0, "flipped": 1.3}  # so that the picture's bars can be told apart
COLOURS = ("#2563eb", "#d97706", "#059669", "#9333ea")


class Pair(NamedTuple):
    """A step size, an ascent there, and what it is compared with."""

    beta: str
    ascent: str
    control: str

    @property
    def row(self) -> str:
        return f"beta = {self.beta}, ascent = {self.ascent}"

    @property
    def other(self) -> str:
        return f"beta = {self.beta}, ascent = {self.control}"


def main(arguments: list[str] | None = None) -> None:
    """Print the table of all archives."""
    options = parser().parse_args(arguments)
    frames, cells = [], []
    with TemporaryDirectory() as store:
        for archive in options.archives:
            with Reader(unpack_archive(archive, Path(store))) as reader:
                frames.append(contrasts(reader))
                cells.append(values_of_cells(reader))
    table = pd.concat(frames, ignore_index=True)
    print(table_of(table))
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        table.to_csv(options.out / "contrasts.csv", index=False, float_format="%.6g")
        pd.concat(cells).to_csv(options.out / "cells.csv", index=False, float_format="%.6g")
        checkpoints = dict(zip(POOLINGS, map(pd.read_csv, options.checkpoints), strict=False))
        picture(table, checkpoints).write_image(options.out / "strength.png", width=1000, height=800)


def contrasts(reader: Reader) -> pd.DataFrame:
    """Return the contrasts of a study on both measures, a row each.

    The planned ones come first, then those of the controls.
    """
    batch = int(reader.records()[0].config["batch_size"])
    rises = row_scores(reader, "inner/rise").table.mean(axis=1) * log(batch)
    lines: list[dict[str, Any]] = []
    for measure in measured_items(reader, minus=next(iter(row_scores(reader).table.index))):
        if measure.metric in NAMES:
            fixed = {"study": reader.study().name, "batch": batch, "measure": NAMES[measure.metric]}
            for family in (PLANNED, OF_CONTROLS):
                lines += (fixed | line for line in _contrasts_of(measure, rises, family))
    return pd.DataFrame(lines)


def _contrasts_of(
    measure: MeasuredItems, rises: pd.Series, family: tuple[tuple[str, str], ...]
) -> Iterator[dict[str, Any]]:
    table = measure.table
    steps = {step["beta"]: None for row in table.index if (step := ROW.fullmatch(row))}
    names = [Pair(beta, *pair) for beta in sorted(steps, key=float) for pair in family]
    names = [one for one in names if {one.row, one.other} <= {*table.index}]
    compared = crossed_contrasts(seeds_of(measure), [{one.row: 1.0, one.other: -1.0} for one in names])
    for pair, found in zip(names, compared, strict=True):
        if found is not None:
            yield {
                "beta": float(pair.beta),
                "ascent": pair.ascent,
                "minus": pair.control,
                "rise": rises[pair.row],
                "rise_of_control": rises[pair.other],
                "mean": float(table.loc[pair.row].mean()),
                "mean_of_control": float(table.loc[pair.other].mean()),
                **columns_of(*found),
            }


def values_of_cells(reader: Reader) -> pd.DataFrame:
    """Return what every cell measured: dev, test, and of its adversary rise and norm.

    The rise is a share of the inner loss at chance, the norm delta's mean.
    """
    cells = reader.cells()
    cells = cells[cells["status"] == "complete"]
    values = {
        "dev": reader.final_values("dev"),
        "test": by_subject(reader, TEST),
        "rise": reader.final_values("inner/rise"),
        "norm": reader.final_values("delta/norm"),
    }
    frame = cells[["identity", "trial", "seed"]].assign(study=reader.study().name)
    return frame.assign(**{name: frame["identity"].map(found) for name, found in values.items()})


def table_of(table: pd.DataFrame) -> str:
    """Return gradient minus noise, on dev and on test, as a Markdown table."""
    rows = (
        table.query("ascent == 'gradient' and minus == 'noise'")
        .set_index(["study", "beta", "measure"])
        .sort_index()
    )
    lines = []
    for study, ladder in LADDERS.items():
        for beta in sorted({beta for name, beta, _ in rows.index if name == study}):
            both = [rows.loc[study, beta, NAMES[measure]] for measure in (DEV, TEST)]
            found = [text for row in both for text in (" ".join(shown(row)[:2]), row.verdict)]
            lines.append((ladder, f"{beta:g}", f"{both[0].rise:.2g}", *found))
    header = ("pooling, batch", "beta", "nats", "STS-B dev", "verdict", "STS-B test", "verdict")
    return markdown_table(header, lines)


def picture(table: pd.DataFrame, checkpoints: Mapping[str, pd.DataFrame]) -> go.Figure:
    """Return gradient and flipped minus noise against the rise of the inner loss.

    Rows are poolings, columns STS-B dev and test. `checkpoints` are the means of `benchmarks.checkpoints`, by pooling.
    """
    panels = [(pooling, measure) for pooling in POOLINGS for measure in NAMES.values()]
    figure = make_subplots(
        rows=2,
        cols=2,
        shared_xaxes="all",
        shared_yaxes="all",
        subplot_titles=[f"{measure}, {pooling}" for pooling, measure in panels],
        horizontal_spacing=0.03,
        vertical_spacing=0.08,
    )
    found = table[table["minus"] == "noise"].assign(
        pooling=table["study"].map(lambda study: "mean pooling" if "mean" in study else "[CLS]")
    )
    for place, (pooling, measure) in enumerate(panels):
        panel = {"row": place // 2 + 1, "col": place % 2 + 1, "showlegend": place == 0}
        _add_ladders(figure, found[(found["pooling"] == pooling) & (found["measure"] == measure)], panel)
        if pooling in checkpoints:
            means, marker = checkpoints[pooling], {"symbol": "diamond", "size": 8, "color": "black"}
            name = "five un-aligned bases: gradient minus noise"
            y = means[{NAMES[DEV]: "difference", NAMES[TEST]: "difference_test"}[measure]]
            figure.add_scatter(x=means["rise"], y=y, name=name, mode="markers", marker=marker, **panel)
    figure.update_layout(
        legend={"orientation": "h", "y": -0.12}, template="plotly_white", margin={"t": 30, "b": 20}
    )
    figure.update_xaxes(type="log", exponentformat="power", dtick=1)
    figure.update_xaxes(title="rise of the inner loss, nats (log scale)", row=2)
    figure.update_yaxes(title="difference, points", col=1)
    return figure.add_hline(y=0, line_width=1)


def _add_ladders(figure: go.Figure, found: pd.DataFrame, panel: Mapping[str, Any]) -> None:
    """Draw the differences of both batch sizes into a panel, a line per ascent."""
    for (batch, rows), colour in zip(found.groupby("batch"), COLOURS, strict=False):
        rises = rows[rows["ascent"] == "gradient"].set_index("beta")["rise"]
        for (ascent, some), dash in zip(rows.groupby("ascent", sort=False), ("solid", "dot"), strict=True):
            bars = {"array": some["crossed_high"] - some["difference"], "type": "data"}
            line, name = {"dash": dash, "color": colour}, f"batches of {batch}: {ascent} minus noise"
            x, y = some["beta"].map(rises) * SIDESTEPS[ascent], some["difference"]
            figure.add_scatter(x=x, y=y, error_y=bars, name=name, mode="lines+markers", line=line, **panel)


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.strength")
    made.add_argument("archives", nargs="+", type=Path, metavar="STUDY.tar.xz")
    told = "means.csv of benchmarks.checkpoints, from [CLS] and from mean pooling, for the picture"
    made.add_argument("--checkpoints", nargs=2, default=(), type=Path, help=told)
    made.add_argument("--out", type=Path, help="a folder for contrasts.csv, cells.csv and strength.png")
    return made


if __name__ == "__main__":
    main()
