"""Effects of the parts of a loss in a factorial study, and the parts' shares.

python -m benchmarks.parts STUDY.tar.xz [--out FOLDER]

Reads an archive of `search_spaces/minilm/parts_minilm.yaml` and trains nothing. Main effects and products on STS-B dev
and test: 95% intervals hold at once for all effects on a measure, for new seeds and for new seeds and new pairs
(crossed). Beside them each row's mean, the rise of its inner loss in nats, and the share of two terms in the loss and
in the gradient of the encoder's last layer, at the last step. `--out` writes both tables
and each cell's values as CSV.
"""

from math import log

import pandas as pd

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import HEADER, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import NAMES, values_of_cells
from rse_study.results.comparing.comparisons import row_scores
from rse_study.results.comparing.contrasts import read_effects
from rse_study.results.comparing.item_contrasts import measured_items
from rse_study.results.reader import Reader
from rse_study.results.row_names import own_baseline

WATCHED = {
    "inner/rise": "inner loss (nats)",
    "gradient_share/adversarial": "adversarial in the gradient",
    "loss_share/adversarial": "in the loss",
    "gradient_share/rtd": "L_RTD in the gradient",
    "loss_share/rtd": "in the loss",
}
"""metrics of training and their columns"""


def main(arguments: list[str] | None = None) -> None:
    """Print both tables of an archive."""
    with archived("parts", arguments) as (reader, folder):
        effects, rows, cells = effects_of(reader), rows_of(reader), values_of_cells(reader)
    for measure, some in effects.groupby("measure", sort=False):
        print(f"\n{measure}\n\n{table_of_effects(some)}")
    print(f"\nrows\n\n{table_of_rows(rows)}")
    write_tables(folder, effects=effects, rows=rows, cells=cells)


def effects_of(reader: Reader) -> pd.DataFrame:
    """Return the effects on both measures, a row each."""
    effects = read_effects(reader).effects
    baseline = own_baseline(reader.study(), reader.cells())
    return pd.DataFrame(
        [
            {"measure": NAMES[measure.metric], "effect": effect.name, **columns_of(*found)}
            for measure in measured_items(reader, minus=baseline)
            if measure.metric in NAMES
            for effect, found in zip(
                effects, crossed_contrasts(seeds_of(measure), [one.weights for one in effects]), strict=True
            )
            if found is not None
        ]
    )


def rows_of(reader: Reader) -> pd.DataFrame:
    """Return each row's means over seeds.

    They are those of both measures, and of what was watched at the last step.
    """
    frame = pd.DataFrame({name: row_scores(reader, key).table.mean(axis=1) for key, name in NAMES.items()})
    for metric in WATCHED:
        frame[metric] = row_scores(reader, metric).table.mean(axis=1)
    frame["inner/rise"] *= log(int(reader.records()[0].config["batch_size"]))
    return frame.rename_axis("row").reset_index()


def table_of_effects(rows: pd.DataFrame) -> str:
    """Return the effects on one measure as a Markdown table."""
    return markdown_table(["effect", *HEADER], [(row.effect, *shown(row)) for row in rows.itertuples()])


def table_of_rows(rows: pd.DataFrame) -> str:
    """Return the rows as a Markdown table."""
    shares = [name for name in WATCHED if "share" in name]
    return markdown_table(
        ["row", *NAMES.values(), *WATCHED.values()],
        [
            (
                row["row"],
                *(f"{row[name]:.2f}" for name in NAMES.values()),
                _or_nothing(row["inner/rise"], ".2g"),
                *(_or_nothing(row[name], ".1%") for name in shares),
            )
            for _, row in rows.iterrows()
        ],
    )


def _or_nothing(value: float, style: str) -> str:
    return "" if pd.isna(value) else format(value, style)


if __name__ == "__main__":
    main()
