"""Contrasts of a study's rows, with intervals for new seeds and for new seeds and new items."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from rse_study.results.comparing.comparisons import LEVEL, ComparedContrast, ContrastWeights, compare
from rse_study.results.comparing.crossed import crossed_interval, resampled_values
from rse_study.results.comparing.item_contrasts import MeasuredItems
from rse_study.results.comparing.verdicts import verdict_of
from rse_study.results.statistics import Interval


def crossed_contrasts(
    measure: MeasuredItems, weights: Sequence[ContrastWeights]
) -> list[tuple[ComparedContrast, Interval] | None]:
    """Return each contrast and its crossed interval; None where fewer than 3 seeds have all its rows.

    The intervals hold at once for all contrasts that are given.
    """
    level = 1 - (1 - LEVEL) / len(weights)
    place = {cell: number for number, cell in enumerate(measure.by_cell)}
    resampled = resampled_values(list(measure.by_cell.values()))
    size = len(next(iter(measure.by_cell.values())).scores)
    found: list[tuple[ComparedContrast, Interval] | None] = []
    for one in compare(measure.table, weights, criterion=measure.criterion):
        if one is None:
            found.append(None)
            continue
        seeds, by_seed = list(one.by_seed), np.array([*one.by_seed.values()])
        rows = [
            weight * resampled[:, [place[row, seed] for seed in seeds]] for row, weight in one.weights.items()
        ]
        found.append((one, crossed_interval(by_seed, one.simultaneous, np.sum(rows, axis=0), size, level)))
    return found


def columns_of(one: ComparedContrast, both: Interval) -> dict[str, float | int | str]:
    """Return a contrast as columns of a table."""
    return {
        "seeds": one.n,
        "difference": one.mean,
        "low": one.simultaneous.low,
        "high": one.simultaneous.high,
        "crossed_low": both.low,
        "crossed_high": both.high,
        "p_exact": one.p_exact,
        "better_seeds": len(one.better_seeds(less_is_better=False)),
        "verdict": verdict_of(one),
    }


HEADER = ("difference", "new seeds", "new seeds and pairs", "better seeds", "verdict")


def shown(line: Any) -> tuple[str, ...]:
    """Return the cells under HEADER of a table's row with those columns."""
    return (
        f"{line.difference:+.2f}",
        f"[{line.low:+.2f}, {line.high:+.2f}]",
        f"[{line.crossed_low:+.2f}, {line.crossed_high:+.2f}]",
        f"{line.better_seeds} of {line.seeds}",
        line.verdict,
    )
