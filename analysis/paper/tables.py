"""The tables of the four papers as printed, and what the papers say about them.

Also what is wrong in them. `tables/<id>.csv` holds a row per number; ids are paper-tableN or paper-figureN (rse, l2p,
vadv, dcl), a figure only where the paper's text has its numbers. `source` is file:line of the paper's text. Rows of
ablations are named as the rows of a study are (`rho = 0.5`), all others as in the table, footnote marks left out.
"""

import difflib
from functools import cache

import pandas as pd

from analysis.paper.ids import FIGURES, PAPER, table_ids


def read_table(id: str) -> pd.DataFrame:
    """Return a row per number: row, column, group, value, spread, source.

    `group` is the block of the table, or ""; `value` the number as a float, in the table's unit; `spread` what it
    prints after a plus-minus, else NaN.

    Raises
    ------
    ValueError
        for an unknown id.
    """
    known = table_ids()
    if id not in known:
        near = difflib.get_close_matches(id, known, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"no such table {id!r}. {hint}Known: {', '.join(known)}")
    table = _read(f"tables/{id}.csv")
    return table.assign(value=pd.to_numeric(table["value"]), spread=pd.to_numeric(table["spread"]))


def errata() -> pd.DataFrame:
    """Return what cannot be taken as printed, all text.

    Columns: table, row, column, printed, computed, kind, note, source. kind: `average` does not recompute from its row;
    `split` or setting unclear; `misprint`; `uncertain` or contradicted elsewhere. `table` may also be another place of
    a paper: rse-equation4, l2p-section-b.
    """
    return _read("errata.csv")


def measures() -> pd.DataFrame:
    """Return which metric of ours is which column of a paper's main tables.

    Columns, all text: table, column, group, metric, note. group `*`: the block of the study's encoder. metric: as in
    comparisons.row_scores; `mean`: of the block's other columns; empty where we measure nothing such, and `note` says
    why. Else `note` is what the paper leaves open.
    """
    return _read("measures.csv")


def claims() -> pd.DataFrame:
    """Return what the papers say about their rows.

    Columns: id, table, kind, rows, margin (points, a float), measure, says, source. kind: `best` names one row;
    `better` and `ordering` have rows from good to bad (" > "), `rising` from low to high (" < "), `flat` rows within
    the margin of each other (" ~ "). measure: the metric of ours that a claim is judged on, good being what is good of
    it; empty: the study's objective, and the claim is about every column of its table. `table` is an id of `table_ids`
    or of `figures`.
    """
    table = _read("claims.csv")
    return table.assign(margin=pd.to_numeric(table["margin"]).fillna(0.0))


def figures() -> pd.DataFrame:
    """Return id, title, source of the papers' figures.

    And of a passage in prose that makes claims without a table.
    """
    return _read(FIGURES)


def _read(path: str) -> pd.DataFrame:
    return _as_kept(path).copy()


@cache
def _as_kept(path: str) -> pd.DataFrame:
    with (PAPER / path).open(encoding="utf-8") as text:
        return pd.read_csv(text, dtype=str, keep_default_na=False)
