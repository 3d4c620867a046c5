"""The mapping of a paper's columns, rows and claims to our metrics and rows.

Some tables have a block per encoder; a study is compared with its own encoder's block, or with BERT-base's if no paper
has its encoder (`tiny`). The encoder's suffix in a row's name is dropped: SimCSE-BERT-base is SimCSE. Rows of a
pretrained encoder without training are a study's baselines, and GloVe is one of the user's own.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import nan

import pandas as pd

from analysis.paper import tables
from analysis.paper.tables import table_ids
from rse_study.results.comparing.claims import Claim
from rse_study.results.records import BASELINES

MEAN = "mean"  # the mean of the block's other columns
TOGETHER = " + "  # between metrics whose mean is a column
OF_THE_STUDY = "*"  # the block of the study's encoder
BERT = "BERT-base"
AS_PUBLISHED = " (as published)"  # ending of a row with its authors' settings instead of the study's
BLOCKS = {
    "bert-base-uncased": BERT,
    "bert-large-uncased": "BERT-large",
    "roberta-base": "RoBERTa-base",
    "roberta-large": "RoBERTa-large",
}
CALLED = {
    "BERT": "start",
    "<encoder>": "start",
    "BERT+Adv": "adversarial",
    "BERT+DA": "augmented",
    "<encoder> (first-last avg.)": "first_last",
    "<encoder>-whitening": "whitening",
    "+Whitening": "whitening",
    "<encoder>-flow": "flow",
    "+Flow": "flow",
    "CLS": "cls",
    "BERT-[CLS] embedding": "cls",
    "Mean": "mean",
    "Avg. BERT embeddings": "mean",
    "GloVe embeddings (avg.)": "GloVe",
    "GloVe (avg.)": "GloVe",
    "IS-<encoder>": "IS-BERT",
    "CT-<encoder>": "CT-BERT",
}
"""our names of the paper's rows, of baselines and where a name ends like an encoder's"""
BETWEEN = re.compile(r" [><~] ")


OBJECTIVE_STANDS_IN = ("rse-table5", "rse-table6", "l2p-table3", "vadv-table4", "vadv-table5", "vadv-table6")
"""Tables of ablations: a study that does not measure their columns lays its objective beside the first one."""


@dataclass(frozen=True)
class Column:
    """One column of one block of a paper's table."""

    block: str
    name: str
    metric: str
    """A name of comparisons.row_scores, several joined by ` + ` for their mean, or `mean`."""
    printed: Mapping[str, float]
    """The paper's values by our names of rows."""
    called: Mapping[str, str]
    """The paper's names of rows by ours."""

    @property
    def heading(self) -> str:
        """Its name in claims, "Avg." or "PWWS: Avg.", without the block of an encoder."""
        return self.name if self.block in ("", *BLOCKS.values()) else f"{self.block}: {self.name}"

    def printed_for(self, row: str) -> float:
        """Return the paper's value of a row, or NaN; `(as published)` changes nothing."""
        return self.printed.get(row.removesuffix(AS_PUBLISHED), nan)


def columns_of(table: str, encoder: str = "") -> tuple[Column, ...]:
    """Return every column that has a metric of ours, in the paper's order."""
    known, own = tables.measures(), BLOCKS.get(encoder, BERT)
    lines = known[(known["table"] == table) & (known["metric"] != "")]
    numbers = tables.read_table(table) if table in tables.table_ids() else None
    found, called = [], {} if numbers is None else {our_row(row, own): row for row in numbers["row"]}
    for _, name, group, metric, _ in lines.itertuples(index=False):
        block = own if group == OF_THE_STUDY else group
        is_beside = numbers is not None and (group == OF_THE_STUDY or own == BERT)
        printed = _printed(numbers, block, name, own) if is_beside else {}
        found.append(Column(block, name, metric, printed, called))
    return tuple(found)


def our_row(row: str, block: str = BERT) -> str:
    """Return a study's name for a paper's row: a baseline's, or without the encoder."""
    name = row.removesuffix(" (reproduced)")
    subject = CALLED.get(name.replace(block, "<encoder>"))
    return BASELINES.get(subject, subject) if subject else name.removesuffix(f"-{block}")


def _printed(numbers: pd.DataFrame, block: str, name: str, encoder: str) -> dict[str, float]:
    groups = numbers["group"]
    # What is of no encoder stands in the block of each, and a table without blocks is one.
    is_here = (
        (groups == block) | ~groups.isin(BLOCKS.values()) if block in BLOCKS.values() else groups == block
    )
    here = numbers[(is_here if block else True) & (numbers["column"] == name)]
    return {our_row(row, encoder): value for row, value in zip(here["row"], here["value"], strict=True)}


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
