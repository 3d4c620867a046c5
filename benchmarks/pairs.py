"""Planned differences between rows of a study.

python -m benchmarks.pairs STUDY.tar.xz [--out FOLDER]

Reads an archive of `compute_minilm` or `heads_minilm` and trains nothing. Prints the differences that the study's file
plans, on STS-B dev and test: 95% intervals hold at once for all of them on a measure, for new seeds and for new seeds
and new pairs (crossed). `--out` writes them and each cell's values as CSV.
"""

import pandas as pd

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import HEADER, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import NAMES, values_of_cells
from rse_study.results.comparing.contrasts import own_baseline
from rse_study.results.comparing.item_contrasts import measured_items
from rse_study.results.reader import Reader

PLANNED = {
    "compute-minilm": (
        ("gradient", "noise"),
        ("gradient", "SimCSE"),
        ("gradient", "SimCSE, 100 steps"),
        ("gradient at 1e-4", "noise at 1e-4"),
        ("gradient at 1e-4", "SimCSE at 1e-4"),
        ("gradient at 1e-4", "SimCSE at 1e-4, 100 steps"),
    ),
    "heads-minilm": (
        ("V-advCSE, SimCSE's head", "SimCSE"),
        ("V-advCSE", "SimCSE, V-advCSE's head"),
        ("ConSERT, SimCSE's head, tau and dropout", "SimCSE"),
        ("ConSERT", "SimCSE, ConSERT's head and tau"),
    ),
}
"""by study, pairs of rows of which the first minus the second is asked"""


def main(arguments: list[str] | None = None) -> None:
    """Print the table of an archive."""
    with archived("pairs", arguments) as (reader, folder):
        pairs, cells = differences_of(reader), values_of_cells(reader)
    for measure, some in pairs.groupby("measure", sort=False):
        print(f"\n{measure}\n\n{table_of(some)}")
    write_tables(folder, pairs=pairs, cells=cells)


def differences_of(reader: Reader) -> pd.DataFrame:
    """Return the planned differences on both measures, a row each."""
    planned = PLANNED[reader.study().name]
    weights = [{row: 1.0, other: -1.0} for row, other in planned]
    return pd.DataFrame(
        [
            {
                "measure": NAMES[measure.metric],
                "row": row,
                "minus": other,
                "mean": float(measure.table.loc[row].mean()),
                "mean_of_other": float(measure.table.loc[other].mean()),
                **columns_of(*found),
            }
            for measure in measured_items(reader, minus=own_baseline(reader.study(), reader.cells()))
            if measure.metric in NAMES
            for (row, other), found in zip(
                planned, crossed_contrasts(seeds_of(measure), weights), strict=True
            )
            if found is not None
        ]
    )


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
