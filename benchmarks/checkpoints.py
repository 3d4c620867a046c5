"""Planned contrasts of one adversary on several checkpoints, for new checkpoints.

python -m benchmarks.checkpoints STUDY.tar.xz [--out FOLDER]

Reads an archive of `benchmarks/unaligned_minilm.yaml` and trains nothing. On STS-B dev and test: each arm's
mean over seeds on every checkpoint, and the contrasts between arms over checkpoints. 95% intervals hold at once for the
contrasts on a measure, for new checkpoints and for new checkpoints and new pairs (crossed). `--out` writes both tables
as CSV, and each cell's values.
"""

import re
from math import log
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.archived import archived, write_tables
from benchmarks.crossed import Units, columns_of, crossed_contrasts, seeds_of, shown
from benchmarks.output import markdown_table
from benchmarks.strength import DEV, NAMES, TEST, values_of_cells
from rse_study.results.comparing.comparisons import row_scores
from rse_study.results.comparing.item_contrasts import measured_items
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells, own_baseline

ROW = re.compile(r"ascent = (?P<arm>\w+), checkpoint = unaligned/(?P<checkpoint>\d+)|SimCSE (?P<simcse>\d+)")
ARMS = ("SimCSE", "gradient", "noise", "flipped")
PLANNED = (("gradient", "noise"), ("gradient", "flipped"))
OTHERS = (("gradient", "SimCSE"), ("noise", "SimCSE"))


def main(arguments: list[str] | None = None) -> None:
    """Print both tables of an archive."""
    with archived("checkpoints", arguments) as (reader, folder):
        contrasts, means, cells = contrasts_of(reader), means_of(reader), values_of_cells(reader)
    for measure, some in contrasts.groupby("measure", sort=False):
        print(f"\n{measure}\n\n{table_of_contrasts(some)}")
    print(f"\nSTS-B dev\n\n{table_of_means(means)}")
    write_tables(folder, contrasts=contrasts, means=means, cells=cells)


def contrasts_of(reader: Reader) -> pd.DataFrame:
    """Return the contrasts over checkpoints on both measures, a row each.

    Intervals hold at once for the planned ones, and for the others.
    """
    lines: list[dict[str, Any]] = []
    for measure in measured_items(reader, minus=own_baseline(reader.study(), reader.cells())):
        if measure.metric in NAMES:
            units = checkpoints_of(seeds_of(measure))
            for family in (PLANNED, OTHERS):
                found = crossed_contrasts(units, [{arm: 1.0, other: -1.0} for arm, other in family])
                lines += (
                    {"measure": NAMES[measure.metric], "arm": arm, "minus": other, **columns_of(*one)}
                    for (arm, other), one in zip(family, found, strict=True)
                    if one is not None
                )
    return pd.DataFrame(lines)


def checkpoints_of(seeds: Units) -> Units:
    """Return arms on checkpoints: the means over the seeds that all rows have."""
    whole = seeds.table.dropna(axis=1)
    table = pd.DataFrame(index=list(ARMS), columns=[], dtype=float)
    resampled = {}
    for row in whole.index:
        arm, checkpoint = arm_and_checkpoint(row)
        table.loc[arm, checkpoint] = whole.loc[row].mean()
        resampled[arm, checkpoint] = np.mean([seeds.resampled[row, seed] for seed in whole], axis=0)
    return seeds._replace(table=table, resampled=resampled)


def arm_and_checkpoint(row: str) -> tuple[str, int]:
    """Return the arm and the number of the checkpoint in the name of a row."""
    found = ROW.fullmatch(row)
    assert found, row
    return found["arm"] or "SimCSE", int(found["checkpoint"] or found["simcse"])


def means_of(reader: Reader) -> pd.DataFrame:
    """Return each checkpoint's means over seeds on STS-B dev.

    Beside them gradient minus noise on dev and test with the number of seeds above 0, and `rise`, that of the inner
    loss by gradient ascent, in nats.
    """
    lines = {number: {"start": start} for number, start in sorted(before_training(reader).items())}
    for metric, ending in {DEV: "", TEST: "_test"}.items():
        table = row_scores(reader, metric).table
        by_arm = {arm_and_checkpoint(row): table.loc[row] for row in table.index}
        for number, line in lines.items():
            difference = by_arm["gradient", number] - by_arm["noise", number]
            line |= {f"{arm}{ending}": float(by_arm[arm, number].mean()) for arm in ARMS}
            line |= {
                f"difference{ending}": float(difference.mean()),
                f"better{ending}": int((difference > 0).sum()),
            }
            line["seeds"] = int(difference.notna().sum())
    for number, rise in rises_of(reader).items():
        lines[number]["rise"] = rise
    return pd.DataFrame([{"checkpoint": number} | line for number, line in lines.items()])


def rises_of(reader: Reader) -> dict[int, float]:
    """Return by how many nats the ascent raises the inner loss on each checkpoint."""
    nats = log(int(reader.records()[0].config["batch_size"]))
    shares = row_scores(reader, "inner/rise").table.mean(axis=1)
    by_arm = {arm_and_checkpoint(str(row)): float(share) * nats for row, share in shares.items()}
    return {number: rise for (arm, number), rise in by_arm.items() if arm == "gradient"}


def before_training(reader: Reader) -> dict[int, float]:
    """Return each checkpoint's score at step 0, from its first cell with a history."""
    cells = reader.cells()
    cells = cells[cells["status"] == "complete"].assign(row=names_of_cells(reader.study(), cells))
    found: dict[int, float] = {}
    for row, identity in zip(cells["row"], cells["identity"], strict=True):
        checkpoint = arm_and_checkpoint(row)[1]
        if checkpoint not in found:
            history = reader.ledger.history(identity)
            found[checkpoint] = next(row.value for row in history if row.t == 0 and row.name == "dev")
    return found


def table_of_contrasts(rows: pd.DataFrame) -> str:
    """Return the contrasts on one measure as a Markdown table."""
    lines = [(f"{row.arm} minus {row.minus}", *shown(row)) for row in rows.itertuples()]
    return markdown_table(
        ["contrast", "difference", "new checkpoints", "new checkpoints and pairs", "better", "verdict"], lines
    )


def table_of_means(means: pd.DataFrame) -> str:
    """Return the means as a Markdown table."""
    header = [
        "checkpoint",
        "before training",
        *ARMS,
        "gradient minus noise",
        "better seeds",
        "on STS-B test",
        "better seeds",
    ]
    return markdown_table(
        [*header, "inner loss (nats)"],
        [
            (
                str(row.checkpoint),
                *(f"{value:.2f}" for value in (row.start, *(getattr(row, arm) for arm in ARMS))),
                f"{row.difference:+.2f}",
                f"{row.better} of {row.seeds}",
                f"{row.difference_test:+.2f}",
                f"{row.better_test} of {row.seeds}",
                f"{row.rise:.2g}",
            )
            for row in means.itertuples()
        ],
    )


if __name__ == "__main__":
    main()
