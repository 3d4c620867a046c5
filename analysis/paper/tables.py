"""The printed tables, claims and errata of the four papers.

`tables/<id>.csv` holds a row per number; ids are paper-tableN or paper-figureN (rse, l2p, vadv, dcl), with figures
only if the paper's text has their numbers. `source` is file:line of the paper's text. Rows of ablations have the names
of a study's rows (`rho = 0.5`), all others those of the table without footnote marks.
"""

import csv
import difflib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

from rse_study.deferred import DeferredModule

if TYPE_CHECKING:
    import pandas as pd
else:  # `validate` looks up the ids alone
    pd = DeferredModule("pandas")

PAPER = files("analysis.paper")
FIGURES = "figures.csv"


def table_ids() -> tuple[str, ...]:
    """Return the tables that `tables.read_table` reads, in alphabetical order."""
    found = (PAPER / "tables").iterdir()
    return tuple(sorted(path.name.removesuffix(".csv") for path in found if path.name.endswith(".csv")))


def known_places() -> tuple[str, ...]:
    """Return every table and figure that a study may name."""
    with (PAPER / FIGURES).open(encoding="utf-8") as text:
        figures = [row["id"] for row in csv.DictReader(text)]
    return tuple(sorted({*table_ids(), *figures}))


def read_table(id: str) -> "pd.DataFrame":
    """Return a row per number: row, column, group, value, spread, source.

    `group` is the block of the table, or ""; `value` is in the table's unit; `spread` is the number printed after a
    plus-minus, else NaN. Raises ValueError for an unknown id.
    """
    known = table_ids()
    if id not in known:
        near = difflib.get_close_matches(id, known, n=1)
        hint = f"Did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"no such table {id!r}. {hint}Known: {', '.join(known)}")
    table = _read(f"tables/{id}.csv")
    return table.assign(value=pd.to_numeric(table["value"]), spread=pd.to_numeric(table["spread"]))


def errata() -> "pd.DataFrame":
    """Return what cannot be taken as printed, all as text.

    Columns: table, row, column, printed, computed, kind, note, source. kind: `average` does not recompute from its
    row; `split` or setting unclear; `misprint`; `uncertain` or contradicted elsewhere. `table` may also be another
    place of a paper: rse-equation4, l2p-section-b.
    """
    return _read("errata.csv")


def measures() -> "pd.DataFrame":
    """Return our metric for each column of the papers' main tables.

    Columns, all text: table, column, group, metric, note. group `*` is the block of the study's encoder. metric is as
    in comparisons.row_scores, several of them joined by ` + ` for their mean, `mean` over the block's other columns,
    or empty if we have no such metric, for which `note` gives the reason. Otherwise `note` says what the paper leaves
    open.
    """
    return _read("measures.csv")


def claims() -> "pd.DataFrame":
    """Return the papers' claims about their rows.

    Columns: id, table, kind, rows, margin (points, a float), measure, says, source. kind: `best` names a row, and
    perhaps those it beats (" > "); `better` and `ordering` have rows from good to bad (" > "), `rising` from low to
    high (" < "), `flat` rows within the margin of each other (" ~ "); `share`, `count`, `above` are those of `Claim`.
    measure is our metric or the table's column (`Avg.`, `PWWS: Avg.`) that a claim is judged on; its direction is what
    counts as good; if empty, the claim is about every column that the study measures, or else judged on its objective.
    `table` is an id of `table_ids` or of `figures`.
    """
    table = _read("claims.csv")
    return table.assign(margin=pd.to_numeric(table["margin"]).fillna(0.0))


def figures() -> "pd.DataFrame":
    """Return id, title, source of the papers' figures, and of one passage with claims."""
    return _read(FIGURES)


def _read(path: str) -> "pd.DataFrame":
    return _as_kept(path).copy()


@cache
def _as_kept(path: str) -> "pd.DataFrame":
    with (PAPER / path).open(encoding="utf-8") as text:
        return pd.read_csv(text, dtype=str, keep_default_na=False)
