"""Outcomes of seeds on which verdicts depend: cells to run, without a score, collapsed or far from the others."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd

from rse_study.results.comparing.criterion import Criterion

UNDEFINED = "undefined"  # status of a complete cell whose score is NaN or infinite
LOST = {"failed": "failed", UNDEFINED: "has no finite score"}
LARGEST = 1e100  # squares of larger numbers, and their sums, overflow
FAR = 10.0  # median absolute deviations, and margins: no seed of the project's own studies is as far from the others


def is_finite(values: pd.Series) -> pd.Series:
    """Return which values can be compared: no NaN, no infinity, nothing whose square overflows."""
    return values.abs() < LARGEST


def with_outcomes(rule: Criterion, cells: pd.DataFrame, minus: str) -> Criterion:
    """Return a criterion that knows these cells, and their differences from the row `minus`.

    Columns: row, seed, status (UNDEFINED of a complete cell without a finite score), value, degenerate.
    """
    how = cells["status"].map(LOST).mask(cells["degenerate"], "collapsed")
    told = list(_seeds_of(cells.assign(how=how).dropna(subset="how"), cells["row"].value_counts()))
    table = cells.pivot(index="row", columns="seed", values="value")
    told += [] if minus not in table.index else _far_seeds(table.sub(table.loc[minus]), rule.margin)
    troubles: dict[str, str] = {}
    for row, text in told:
        troubles[row] = f"{troubles[row]} and {text}" if row in troubles else f"{row} {text}"
    lost = frozenset(cells.loc[cells["status"].isin(list(LOST)), "row"])
    waiting = frozenset(cells.loc[~cells["status"].isin(["complete", *LOST]), "row"])
    return replace(rule, waiting=waiting, lost=lost, troubles=troubles)


def _seeds_of(cells: pd.DataFrame, num_seeds: pd.Series) -> Iterator[tuple[str, str]]:
    """Yield rows with such seeds, except those that have no others."""
    for (row, how), part in cells.groupby(["row", "how"], sort=False):
        if (cells["row"] == row).sum() < num_seeds[row]:
            yield row, f"{how} with {_named(part['seed'])}"


def _far_seeds(differences: pd.DataFrame, margin: float) -> Iterator[tuple[str, str]]:
    """Yield rows with a seed whose difference is far from all others, as after a collapse that nothing marked."""
    for row, by_seed in differences.iterrows():
        away = (by_seed - by_seed.median()).abs()
        is_far = (away > FAR * away.median()) & (away > FAR * margin)
        if is_far.any() and margin and by_seed.count() > 3:
            far, others = by_seed[is_far], by_seed[~is_far]
            most = (far - others.median()).abs().max()
            yield str(row), f"lies {most:.3g} away from its other seeds with {_named(far.index)}"


def _named(seeds: Iterable[int]) -> str:
    *first, last = map(str, seeds)
    return f"seeds {', '.join(first)} and {last}" if first else f"seed {last}"
