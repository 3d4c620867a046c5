"""Outcomes of seeds on which verdicts depend.

Cells are still to run, have no score, have collapsed, or are far from the others.
"""

from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from rse_study.results.comparing.criterion import Criterion
from rse_study.results.comparing.row_seeds import LARGEST

UNDEFINED, COLLAPSED = "undefined", "collapsed"  # complete without a finite score; of a collapsed model
WORDS = {"failed": "failed", UNDEFINED: "has no finite score", COLLAPSED: COLLAPSED}
FEWEST, FAR_SDS, FAR_MARGINS = 4, 5, 10
"""Seeds of which one can be far from the others, and how far; none of the project's own studies is."""


def is_finite(values: pd.Series) -> pd.Series:
    """Return which values can be compared.

    No NaN can, no infinity, and nothing whose square overflows.
    """
    return values.abs() < LARGEST


def with_outcomes(rule: Criterion, cells: pd.DataFrame, minus: str) -> Criterion:
    """Return a criterion that knows these cells.

    Differences are from the row `minus`. Columns: row, seed, status (UNDEFINED of a complete cell without a finite
    score), value, degenerate.
    """
    troubles: dict[str, list[str]] = {}
    how = cells["status"].mask(cells["degenerate"], COLLAPSED)
    for (row, what), seeds in cells.groupby(["row", how], sort=False)["seed"]:
        if what in WORDS and (what != COLLAPSED or len(seeds) < (cells["row"] == row).sum()):
            troubles.setdefault(row, []).append(f"{WORDS[what]} with {_named(seeds)}")
    table = cells.pivot(index="row", columns="seed", values="value")
    for row in table.index if minus in table.index and rule.margin else ():
        if far := _far_away((table.loc[row] - table.loc[minus]).dropna().sort_values(), rule.margin):
            troubles.setdefault(row, []).append(far)
    is_lost, is_complete = cells["status"].isin(["failed", UNDEFINED]), cells["status"] == "complete"
    waiting = frozenset(cells.loc[~is_lost & ~is_complete, "row"])
    lost, seeds = (dict(some.groupby("row")["seed"].agg(frozenset)) for some in (cells[is_lost], cells))
    told = {row: f"{row} {' and '.join(texts)}" for row, texts in troubles.items()}
    return replace(rule, waiting=waiting, lost=lost, seeds=seeds, troubles=told)


def _far_away(ordered: pd.Series, margin: float) -> str:
    """Say which few seeds lie far from all others, as after a collapse that nothing marked."""
    gaps = [0.0, *ordered.diff().iloc[1:]]
    at = gaps.index(max(gaps))
    few, others = sorted((ordered[:at], ordered[at:]), key=len)
    is_far = len(ordered) >= FEWEST and gaps[at] > max(FAR_SDS * others.std(), FAR_MARGINS * margin)
    return f"lies {gaps[at]:.3g} away from its other seeds with {_named(few.index)}" if is_far else ""


def _named(seeds: Iterable[int]) -> str:
    *first, last = map(str, seeds)
    return f"seeds {', '.join(first)} and {last}" if first else f"seed {last}"
