"""Planned differences between rows of a study.

python -m benchmarks.pairs STUDY.tar.xz [--out FOLDER]

Reads an archive of `compute_minilm`, `heads_minilm` or `attacks*_minilm` and trains nothing. Prints the differences
that its file plans, on STS-B dev and test: 95% intervals hold at once for all of them on a measure, for new seeds and
for new seeds and new pairs (crossed). Of attacks, also those of their success, for new inputs in place of pairs,
which hold at once over both attacks. `--out` writes them and each cell's values as CSV.
"""

import pandas as pd

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import HEADER, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import NAMES, values_of_cells
from rse_study.results.comparing.comparisons import by_subject
from rse_study.results.comparing.contrasts import own_baseline
from rse_study.results.comparing.item_contrasts import measured_items
from rse_study.results.reader import Reader

OF_ATTACKS = (
    ("gradient", "SimCSE, 100 steps"),
    ("gradient", "noise"),
    ("L2P-CSR", "SimCSE, 100 steps"),
)
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
    "attacks-minilm": OF_ATTACKS,
    "attacks-sst2-minilm": OF_ATTACKS,
}
"""by study, pairs of rows of which the first minus the second is asked"""
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
    """Return the planned differences on each measure, a row each."""
    planned, names = PLANNED[reader.study().name], NAMES | SUCCESS
    weights = [{row: 1.0, other: -1.0} for row, other in planned]
    return pd.DataFrame(
        [
            {
                "measure": names[measure.metric],
                "row": row,
                "minus": other,
                "mean": float(measure.table.loc[row].mean()),
                "mean_of_other": float(measure.table.loc[other].mean()),
                **columns_of(*found),
            }
            for measure in measured_items(reader, minus=own_baseline(reader.study(), reader.cells()))
            if measure.metric in names
            for (row, other), found in zip(
                planned,
                # Intervals hold at once for all weights that are given. Both attacks are one family: twice as many.
                crossed_contrasts(seeds_of(measure), weights * (1 + (measure.metric in SUCCESS))),
                strict=False,
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
