"""Outcomes of seeds on which verdicts depend: cells to run, without a score, collapsed or far from the others."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

import pandas as pd

from rse_study.results.comparing.criterion import Criterion

UNDEFINED = "undefined"  # status of a complete cell whose score is NaN or infinite
LOST, COLLAPSED = {"failed": "failed", UNDEFINED: "has no finite score"}, "collapsed"
LARGEST = 1e100  # squares of larger numbers, and their sums, overflow
FEWEST = 4  # seeds of which one can be far from the others
FAR_SDS, FAR_MARGINS = 5, 10  # from the next seed: no seed of the project's own studies is as far away


def is_finite(values: pd.Series) -> pd.Series:
    """Return which values can be compared: no NaN, no infinity, nothing whose square overflows."""
    return values.abs() < LARGEST


def with_outcomes(rule: Criterion, cells: pd.DataFrame, minus: str) -> Criterion:
    """Return a criterion that knows these cells, and their differences from the row `minus`.

    Columns: row, seed, status (UNDEFINED of a complete cell without a finite score), value, degenerate.
    """
    how = cells["status"].map(LOST).mask(cells["degenerate"], COLLAPSED)
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
    """Yield rows with such seeds, except those that collapsed with all of them."""
    for (row, how), part in cells.groupby(["row", "how"], sort=False):
        if how != COLLAPSED or len(part) < num_seeds[row]:
            yield row, f"{how} with {_named(part['seed'])}"


def _far_seeds(differences: pd.DataFrame, margin: float) -> Iterator[tuple[str, str]]:
    """Yield rows of which few seeds lie far from all others, as after a collapse that nothing marked."""
    for row, by_seed in differences.iterrows():
        ordered = by_seed.dropna().sort_values()
        gaps = ordered.diff().fillna(0.0).to_numpy()
        if len(ordered) < FEWEST or not margin:
            continue
        few, others = sorted((ordered[: gaps.argmax()], ordered[gaps.argmax() :]), key=len)
        if gaps.max() > max(FAR_SDS * others.std(), FAR_MARGINS * margin):
            yield str(row), f"lies {gaps.max():.3g} away from its other seeds with {_named(few.index)}"


def _named(seeds: Iterable[int]) -> str:
    *first, last = map(str, seeds)
    return f"seeds {', '.join(first)} and {last}" if first else f"seed {last}"
