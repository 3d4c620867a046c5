"""Contrasts of rows, with intervals for new seeds and for new items, too."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rse_study.results.comparing.comparisons import LEVEL, ComparedContrast, ContrastWeights, compare
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.comparing.item_contrasts import MeasuredItems, crossed_interval, resampled_values
from rse_study.results.statistics import Interval


class Units(NamedTuple):
    """Scores of rows by unit, a seed or a checkpoint, and on resamples of items."""

    table: pd.DataFrame
    """[rows, units]"""
    resampled: Mapping[tuple[str, int], NDArray[np.float64]]
    """[resamples] by row and unit"""
    num_items: int
    criterion: Criterion


def seeds_of(measure: MeasuredItems) -> Units:
    """Return a measure's scores with seeds as units."""
    values = resampled_values(list(measure.by_cell.values()))
    size = len(next(iter(measure.by_cell.values())).scores)
    return Units(measure.table, dict(zip(measure.by_cell, values.T, strict=True)), size, measure.criterion)


def crossed_contrasts(
    units: Units, weights: Sequence[ContrastWeights]
) -> list[tuple[ComparedContrast, Interval] | None]:
    """Return each contrast and its crossed interval.

    None stands where fewer than 3 units have all its rows. The intervals hold at once for all the others.
    """
    compared = compare(units.table, weights, criterion=units.criterion)
    level = 1 - (1 - LEVEL) / max(1, sum(one is not None for one in compared))
    found: list[tuple[ComparedContrast, Interval] | None] = []
    for one in compared:
        if one is None:
            found.append(None)
            continue
        by_unit = np.array([*one.by_seed.values()])
        differences = [
            np.sum([weight * units.resampled[row, unit] for row, weight in one.weights.items()], axis=0)
            for unit in one.by_seed
        ]
        both = crossed_interval(by_unit, one.deciding, np.transpose(differences), units.num_items, level)
        found.append((one, both))
    return found


def columns_of(one: ComparedContrast, both: Interval) -> dict[str, float | int | str]:
    """Return a contrast as columns of a table."""
    return {
        "seeds": one.n,
        "difference": one.mean,
        "low": one.deciding.low,
        "high": one.deciding.high,
        "crossed_low": both.low,
        "crossed_high": both.high,
        "p_exact": one.p_exact,
        "better_seeds": len(one.better_seeds(less_is_better=one.criterion.less_is_better)),
        "verdict": one.verdict,
    }


HEADER = ("difference", "new seeds", "new seeds and items", "better seeds", "verdict")


def shown(line: Any) -> tuple[str, ...]:
    """Return the cells under HEADER of a table's row with those columns."""
    return (
        f"{line.difference:+.2f}",
        f"[{line.low:+.2f}, {line.high:+.2f}]",
        f"[{line.crossed_low:+.2f}, {line.crossed_high:+.2f}]",
        f"{line.better_seeds} of {line.seeds}",
        line.verdict,
    )
