"""The papers' claims and printed values, with rows named as in a study."""

import re

from analysis.paper import tables
from analysis.paper.columns import columns_of, our_row
from analysis.paper.ids import table_ids
from rse_study.results.claims import Claim

BETWEEN = re.compile(r" [><~] ")


def claims_of(table: str) -> list[Claim]:
    """Return the paper's claims about a table or figure, none for an unknown one."""
    known = tables.claims()
    return [
        Claim(
            id=row.id,
            table=row.table,
            kind=row.kind,
            rows=tuple(our_row(name) for name in BETWEEN.split(row.rows)),
            margin=float(row.margin),
            says=row.says,
            source=row.source,
            measure=row.measure,
        )
        for row in known[known["table"] == table].itertuples()
    ]


def printed_values(table: str) -> dict[str, float]:
    """Return a table's first column by row; empty if columns have their own metrics."""
    if table not in table_ids() or columns_of(table):
        return {}
    frame = tables.read_table(table)
    first = frame[frame["column"] == frame["column"].iloc[0]].drop_duplicates("row")
    return dict(zip(first["row"], first["value"], strict=True))
