"""The papers' claims as records that can be judged.

About rows as a study calls them; and what a table prints for a row.
"""

import re

from analysis.paper import tables
from analysis.paper.columns import columns_of, our_row
from analysis.paper.ids import table_ids
from rse_study.results.claims import Claim

BETWEEN = re.compile(r" [><~] ")


def claims_of(table: str) -> list[Claim]:
    """Return what its paper says about a table or figure, in claims.csv's order.

    Nothing about an unknown one.
    """
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
    """Return the paper's value by row, in its order: of a table's first column.

    It stands beside a study's objective. Nothing of a figure, nor where each column is measured by a metric of its own.
    """
    if table not in table_ids() or columns_of(table):
        return {}
    frame = tables.read_table(table)
    first = frame[frame["column"] == frame["column"].iloc[0]].drop_duplicates("row")
    return dict(zip(first["row"], first["value"], strict=True))
