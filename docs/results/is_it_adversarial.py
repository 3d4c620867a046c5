"""Tables and picture of is_it_adversarial.md, from the cells in strength_minilm/."""

from collections.abc import Iterator, Sequence
from math import log
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from rse_study import open_study
from rse_study.results.comparing.comparisons import LEVEL, compare, row_scores
from rse_study.results.comparing.crossed import crossed_interval, resampled_values
from rse_study.results.comparing.item_contrasts import MeasuredItems, measured_items
from rse_study.results.reader import Reader

FOLDER = Path(__file__).parent / "strength_minilm"
ARCHIVE = FOLDER / "strength-minilm.tar.xz"
BATCH = 8
DIRECTIONS = ("gradient", "noise", "flipped")
MARKS = {"gradient": "circle", "noise": "square-open", "flipped": "triangle-down-open"}
Pair = tuple[str, str]


def row_of(beta: str, direction: str) -> str:
    """Return the label of a row of the study."""
    return f"beta = {beta}, ascent = {direction}"


def betas_of(reader: Reader) -> list[str]:
    """Return the step sizes as the study writes them."""
    return [str(beta) for beta in reader.study().settings.axes["beta"]["choice"]]


def planned_pairs(betas: Sequence[str]) -> list[Pair]:
    """Return gradient minus noise and gradient minus flipped at each step size, as the study file plans."""
    return [(row_of(beta, "gradient"), row_of(beta, control)) for beta in betas for control in DIRECTIONS[1:]]


def rises(reader: Reader) -> dict[str, float]:
    """Return the rise of the inner loss in nats by row, the mean over its seeds and reported steps."""
    cells = reader.cells().set_index("identity")
    points = reader.metrics(name="inner/rise")
    rows = points["identity"].map(cells["name"])
    return (points.groupby(rows)["value"].mean() * log(BATCH)).to_dict()


def contrasts(measured: MeasuredItems, pairs: Sequence[Pair]) -> Iterator[dict[str, Any]]:
    """Yield each pair's difference with its intervals for new seeds and for new seeds and items, over all pairs."""
    compared = compare(measured.table, [{one: 1.0, other: -1.0} for one, other in pairs])
    place = {cell: number for number, cell in enumerate(measured.by_cell)}
    resampled = resampled_values(list(measured.by_cell.values()))
    num_items = len(next(iter(measured.by_cell.values())).scores)
    level = 1 - (1 - LEVEL) / len(pairs)
    for (one, other), contrast in zip(pairs, compared, strict=True):
        assert contrast is not None, f"{one} minus {other} has fewer than 3 seeds"
        here, there = ([place[row, seed] for seed in contrast.by_seed] for row in (one, other))
        by_seed, moved = np.array(list(contrast.by_seed.values())), resampled[:, here] - resampled[:, there]
        crossed = crossed_interval(by_seed, contrast.simultaneous, moved, num_items, level)
        yield {
            "measure": measured.measure,
            "row": one,
            "minus": other,
            "seeds": contrast.n,
            "mean": contrast.mean,
            "seeds_low": contrast.simultaneous.low,
            "seeds_high": contrast.simultaneous.high,
            "crossed_low": crossed.low,
            "crossed_high": crossed.high,
            "p_holm": contrast.p_holm,
        }


def read(archive: Path = ARCHIVE) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the rows (strength and gain over SimCSE) and the planned contrasts, on every measure."""
    with Reader(open_study(archive).folder) as reader:
        betas, strength, measures = betas_of(reader), rises(reader), measured_items(reader)
        planned = pd.DataFrame(line for one in measures for line in contrasts(one, planned_pairs(betas)))
        ladder = [(row_of(beta, direction), measures[0].minus) for direction in DIRECTIONS for beta in betas]
        rows = pd.DataFrame(line for one in measures for line in contrasts(one, ladder))
        scores = row_scores(reader).table.mean(axis=1)
    return rows.assign(rise_nats=rows["row"].map(strength), dev=rows["row"].map(scores)), planned


def draw(rows: pd.DataFrame) -> go.Figure:
    """Draw the gain over SimCSE by step size and direction, with intervals for new seeds and items."""
    figure, dev = go.Figure(), rows[rows["measure"] == rows["measure"].iloc[0]]
    for direction, mark in MARKS.items():
        shown = dev[dev["row"].str.endswith(f"= {direction}")]
        above, below = shown["crossed_high"] - shown["mean"], shown["mean"] - shown["crossed_low"]
        bars = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        steps = shown["row"].str.extract(r"beta = ([^,]+)")[0]
        figure.add_scatter(
            x=steps, y=shown["mean"], error_y=bars, name=direction, mode="markers+lines", marker_symbol=mark
        )
    figure.update_layout(
        template="plotly_white",
        xaxis_title="step size beta (noise and flipped: same length)",
        yaxis_title="gain over SimCSE, points",
    )
    figure.update_xaxes(type="category")
    return figure


if __name__ == "__main__":
    found_rows, found_contrasts = read()
    for name, frame in {"rows": found_rows, "contrasts": found_contrasts}.items():
        frame.round(4).to_csv(FOLDER / f"{name}.csv", index=False)
        print(frame.round(3).to_string(index=False))
    draw(found_rows).write_image(FOLDER / "strength.png", width=800, height=450, scale=1.5)
