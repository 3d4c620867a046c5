"""The papers' claims and printed values, with rows named as in a study."""

import re

from analysis.paper import tables
from analysis.paper.columns import BERT, BLOCKS, MEAN, columns_of, our_row
from analysis.paper.ids import table_ids
from rse_study.results.comparing.claims import Claim

BETWEEN = re.compile(r" [><~] ")


OBJECTIVE_STANDS_IN = ("rse-table5", "rse-table6", "l2p-table3", "vadv-table4", "vadv-table5", "vadv-table6")
"""Tables of ablations: a study that does not measure their columns lays its objective beside the first one."""


def claims_of(table: str, encoder: str = "") -> list[Claim]:
    """Return the paper's claims about a table or figure, none for an unknown one.

    A claim about another encoder than `encoder` keeps its rows' full names, which no study has.
    """
    known, columns = tables.claims(), columns_of(table, encoder)
    each = tuple(column.heading for column in columns if column.metric != MEAN)
    return [
        Claim(
            id=row.id,
            table=row.table,
            kind=row.kind,
            rows=tuple(our_row(name, BLOCKS.get(encoder, BERT)) for name in BETWEEN.split(row.rows)),
            margin=float(row.margin),
            says=row.says,
            source=row.source,
            measure=row.measure,
            columns=each,
        )
        for row in known[known["table"] == table].itertuples()
    ]


def printed_values(table: str) -> dict[str, float]:
    """Return a table's first column by row, where an objective may stand for it."""
    if table not in table_ids() or (columns_of(table) and table not in OBJECTIVE_STANDS_IN):
        return {}
    frame = tables.read_table(table)
    first = frame[frame["column"] == frame["column"].iloc[0]].drop_duplicates("row")
    return dict(zip(first["row"], first["value"], strict=True))
