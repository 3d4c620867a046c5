"""Planned differences between rows of a study.

python -m benchmarks.pairs STUDY.tar.xz [--out FOLDER]

Reads an archive of `compute_minilm`, `heads_minilm` or `attacks*_minilm` and trains nothing. Prints the differences
that its file plans, on STS-B dev and test: 95% intervals hold at once for all of them on a measure, for new seeds and
for new seeds and new pairs (crossed). Of attacks, also those of their success, for new inputs in place of pairs,
which hold at once over both attacks, and, though this was not planned, on only those inputs that both classifiers of a
pair have right. `--out` writes them and each cell's values as CSV.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import HEADER, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import NAMES, values_of_cells
from rse_study.results.comparing.comparisons import by_subject
from rse_study.results.comparing.item_contrasts import MeasuredItems, measured_items
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.row_names import own_baseline
from rse_study.study.checking.validation import read_study

STUDIES = Path(__file__).parents[1] / "search_spaces" / "minilm"
COMMON_INPUTS = "of the inputs that both have right"
SUCCESS = {
    f"attack-{inputs}/{recipe.lower()}/success_rate": f"success of {recipe} on {title} (%)"
    for inputs, title in {"mr": "MR", "sst2": "SST-2"}.items()
    for recipe in ("PWWS", "TextFooler")
}


def main(arguments: list[str] | None = None) -> None:
    """Print the table of an archive."""
    with archived("pairs", arguments) as (reader, folder):
        pairs, cells = differences_of(reader), values_of_cells(reader)
        success = {name: metric for metric, name in SUCCESS.items() if name in set(pairs["measure"])}
        cells = cells.assign(
            **{name: cells["identity"].map(by_subject(reader, metric)) for name, metric in success.items()}
        )
    for measure, some in pairs.groupby("measure", sort=False):
        print(f"\n{measure}\n\n{table_of(some)}")
    write_tables(folder, pairs=pairs, cells=cells)


def differences_of(reader: Reader) -> pd.DataFrame:
    """Return the planned differences on each measure, a row each.

    Those of attacks' success also on only those inputs that both rows have right.
    """
    planned, names = pairs_of(reader.study().name), NAMES | SUCCESS
    lines: list[dict[str, Any]] = []
    for measure in measured_items(reader, minus=own_baseline(reader.study(), reader.cells())):
        if measure.metric in names:
            name, of_attack = names[measure.metric], measure.metric in SUCCESS
            at_once = len(planned) * (2 if of_attack else 1)  # both attacks are one family
            lines += _lines_of(measure, name, planned, at_once)
            for pair in planned if of_attack else ():
                lines += _lines_of(
                    on_common_inputs(measure, *pair), f"{name}, {COMMON_INPUTS}", [pair], at_once
                )
    return pd.DataFrame(lines)


def pairs_of(study: str) -> list[tuple[str, str]]:
    """Return the pairs of rows whose difference the file of a study plans."""
    planned = read_study(STUDIES / f"{study.replace('-', '_')}.yaml").study.contrasts or {}
    by_weight = [{weight: row for row, weight in one.items()} for one in planned.values()]
    assert by_weight and all({*one} == {1.0, -1.0} for one in by_weight), (
        f"{study} plans no differences of two rows"
    )
    return [(rows[1.0], rows[-1.0]) for rows in by_weight]


def _lines_of(
    measure: MeasuredItems, name: str, pairs: Sequence[tuple[str, str]], at_once: int
) -> Iterator[dict[str, Any]]:
    """Yield the differences of pairs, with intervals that hold for `at_once` of them together."""
    weights = [{row: 1.0, other: -1.0} for row, other in pairs] * (at_once // len(pairs))
    means = measure.table.mean(axis=1)
    for (row, other), found in zip(pairs, crossed_contrasts(seeds_of(measure), weights), strict=False):
        if found is not None:
            fixed = {"measure": name, "row": row, "minus": other}
            yield fixed | {"mean": means[row], "mean_of_other": means[other]} | columns_of(*found)


def on_common_inputs(measure: MeasuredItems, row: str, other: str) -> MeasuredItems:
    """Return the measure of two rows on the items, by seed, that both have scores of."""
    items: dict[tuple[str, int], ItemScores] = {}
    for seed in measure.table:
        both = [measure.by_cell[name, seed].scores for name in (row, other)]
        lacking = np.isnan(both).any(axis=0)
        items |= {
            (name, seed): ItemScores(np.where(lacking, np.float32("nan"), scores))
            for name, scores in zip((row, other), both, strict=True)
        }
    values = pd.Series({cell: float(np.nanmean(one.scores)) for cell, one in items.items()})
    return measure._replace(minus=other, table=values.unstack(), by_cell=items)


def table_of(rows: pd.DataFrame) -> str:
    """Return the differences on one measure as a Markdown table."""
    return markdown_table(
        ["row", "minus", "mean", "of the other", *HEADER],
        [
            (row.row, row.minus, f"{row.mean:.2f}", f"{row.mean_of_other:.2f}", *shown(row))
            for row in rows.itertuples()
        ],
    )


if __name__ == "__main__":
    main()
