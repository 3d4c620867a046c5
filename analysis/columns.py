"""A paper's table column by column, with our numbers next to the printed ones."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import chain
from math import nan
from typing import Literal

import pandas as pd

from analysis.paper.columns import MEAN, TOGETHER, Column, columns_of
from rse_study.results.comparing import comparisons
from rse_study.results.comparing.contrasts import with_baseline
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.reader import Reader
from rse_study.results.records import BASELINES
from rse_study.results.statistics import Interval
from rse_study.results.study_record import MINUS

Agreement = Literal["same", "other", "undecided", "incomplete", ""]
START = BASELINES["start"]


def measured_scores(reader: Reader, metrics: Iterable[str]) -> dict[str, comparisons.Scores]:
    """Return scores of baselines and rows by metric, if the study measures it."""
    study, evaluations = reader.study(), reader.evaluations()
    asked = [
        metric
        for metric in dict.fromkeys(metrics)
        if metric == study.objective.evaluation or _is_asked(metric, study.evaluations, evaluations)
    ]
    by_metric = comparisons.scores_by_metric(reader, asked).items()
    return {metric: _with_baselines(scores, reader, metric) for metric, scores in by_metric}


def _is_asked(metric: str, asked: Iterable[str], evaluations: pd.DataFrame) -> bool:
    """Whether it is evaluated; an evaluation may lack it (ANLI without some splits)."""
    known, measured = set(evaluations["metric"]), set(evaluations["evaluation"])
    whole = {part: part.rpartition("/")[0] for part in metric.split(MINUS)}
    return all(
        comparisons.is_of_history(part) or (name in asked and (part in known or name not in measured))
        for part, name in whole.items()
    )


def _with_baselines(scores: comparisons.Scores, reader: Reader, metric: str) -> comparisons.Scores:
    values, evaluations = comparisons.by_subject(reader, metric), reader.evaluations()
    worthless = evaluations[evaluations["degenerate"] & evaluations["metric"].isin(metric.split(MINUS))]
    study, names = reader.study(), reader.study().baselines
    degenerate = [names[name] for name in dict.fromkeys(worthless["subject"]) if name in names]
    for label in reversed(names.values()):
        scores = with_baseline(scores, label, values, study)
    return replace(scores, degenerate_rows=(*degenerate, *scores.degenerate_rows))


@dataclass(frozen=True)
class TableCell:
    """One of our rows in one column of a paper's table; NaN where a number is missing."""

    column: Column
    row: str
    printed: float
    less_is_better: bool
    is_open: bool
    is_fixed: bool = False
    """Whether it is a baseline, which is measured once, without seeds."""
    mean: float = nan
    sd: float = nan
    num_seeds: int = 0
    minus: str = ""
    sample: tuple[float, ...] = ()
    """Its differences from `minus`, paired by seed."""
    printed_difference: float = nan
    is_degenerate: bool = False
    is_absent: bool = False
    """Whether the study lacks the row: the paper alone has it."""
    is_lost: bool = False
    """Whether it or `minus` has no score at some seeds: without an interval nothing is decided by the others."""
    interval: Interval | None = None
    """Simultaneous with those of all other cells."""

    @property
    def difference(self) -> float:
        return sum(self.sample) / len(self.sample) if self.sample else nan

    @property
    def direction(self) -> Agreement:
        """Whether the difference has the paper's sign; "" if the paper shows none."""
        if pd.isna(self.printed_difference) or not self.printed_difference:
            return ""
        if self.is_open:
            return "incomplete"
        if self.interval is None or not self.interval.excludes(0.0):
            return "undecided"
        return "same" if self.leans else "other"

    @property
    def leans(self) -> bool:
        """Whether the mean difference has the paper's sign, whatever its interval says."""
        return self.difference * self.printed_difference > 0


def read_columns(reader: Reader, table: str) -> list[tuple[Column, comparisons.Scores]]:
    """Return every column of a paper's table for which the study has scores."""
    columns = columns_of(table, reader.study().encoder)
    metrics = [metric for column in columns for metric in _parts(column, columns)]
    return _by_column(columns, measured_scores(reader, metrics))


def cells_of(columns: Sequence[tuple[Column, comparisons.Scores]], baseline: str) -> tuple[TableCell, ...]:
    """Return the cells of columns, those that the paper alone has included.

    Differences are from the grid's baseline; without one, from the encoder before training if the paper's table has
    it.
    """
    minus = baseline or (START if any(START in column.printed for column, _ in columns) else "")
    scored = [(column, scores) for column, scores in columns if scores.table.notna().to_numpy().any()]
    found = [
        cell
        for column, scores in scored
        for cell in (*_cells(column, scores, minus), *_papers_alone(column, scores))
    ]
    criterion = scored[0][1].criterion if scored else comparisons.FIXED
    return _in_order(_together(found, criterion))


def _parts(column: Column, columns: Sequence[Column]) -> list[str]:
    """Return the metrics whose mean is a column."""
    if column.metric != MEAN:
        return column.metric.split(TOGETHER)
    return [one.metric for one in columns if one.block == column.block and one.metric != MEAN]


def _by_column(
    columns: Sequence[Column], measured: Mapping[str, comparisons.Scores]
) -> list[tuple[Column, comparisons.Scores]]:
    """The columns with scores; a mean needs scores in all its parts."""
    found = []
    for column in columns:
        parts = _parts(column, columns)
        if all(metric in measured for metric in parts):
            found.append((column, _mean([measured[metric] for metric in parts])))
    return found


def _mean(parts: Sequence[comparisons.Scores]) -> comparisons.Scores:
    tables = [part.table for part in parts]
    shared = [row for row in tables[0].index if all(row in table.index for table in tables)]
    found = [part.criterion.lost for part in parts]
    lost = {row: frozenset().union(*(one.get(row, ()) for one in found)) for row in _any_of(found)}
    return replace(
        parts[0],
        table=reduce(pd.DataFrame.add, (table.loc[shared] for table in tables)) / len(tables),
        open_rows=_any_of(part.open_rows for part in parts),
        degenerate_rows=_any_of(part.degenerate_rows for part in parts),
        fixed_rows=_any_of(part.fixed_rows for part in parts),
        criterion=replace(parts[0].criterion, lost=lost),
    )


def _any_of(names: Iterable[Iterable[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(chain.from_iterable(names)))


def _cells(column: Column, scores: comparisons.Scores, minus: str) -> Iterator[TableCell]:
    table = scores.table
    for row in table.index:
        values, is_fixed = table.loc[row].dropna(), row in scores.fixed_rows
        is_compared = minus in table.index and row != minus and not is_fixed
        sample = comparisons.differences(table, {row: 1.0, minus: -1.0}).tolist() if is_compared else ()
        own = {row, minus} if is_compared else {row}
        printed = column.printed_for(row)
        yield TableCell(
            column=column,
            row=row,
            is_fixed=is_fixed,
            mean=float(values.mean()),
            sd=nan if is_fixed else float(values.std(ddof=1)),
            num_seeds=0 if is_fixed else len(values),
            printed=printed,
            minus=minus if is_compared else "",
            sample=tuple(sample),
            printed_difference=printed - column.printed.get(minus, nan) if is_compared else nan,
            less_is_better=scores.less_is_better,
            is_degenerate=bool(own & set(scores.degenerate_rows)),
            is_lost=scores.criterion.on(own).is_lost,
            is_open=scores.num_unplanned > 0 or bool(own & set(scores.open_rows)),
        )


def _papers_alone(column: Column, scores: comparisons.Scores) -> Iterator[TableCell]:
    """The cells of rows that the study lacks, so that a table leaves out none of the paper's."""
    is_open = scores.num_unplanned > 0
    for row, printed in column.printed.items():
        if row not in scores.table.index:
            yield TableCell(column, row, printed, scores.less_is_better, is_open, is_absent=True)


def _together(cells: Sequence[TableCell], criterion: Criterion) -> list[TableCell]:
    """Add the interval that decides to each cell with seeds enough, for all of them at once."""
    num_together = sum(
        len(cell.sample) >= comparisons.MIN_SEEDS or (cell.is_open and cell.minus != "") for cell in cells
    )
    rules = {True: replace(criterion, is_anytime=True), False: criterion}
    return [
        replace(cell, interval=rules[cell.is_open].interval(cell.sample, num_together))
        if len(cell.sample) >= comparisons.MIN_SEEDS and not cell.is_lost
        else cell
        for cell in cells
    ]


def _in_order(cells: Sequence[TableCell]) -> tuple[TableCell, ...]:
    """Sort by block: untrained baselines, the paper's rows, then ours alone."""
    rows = dict.fromkeys(cell.row for cell in cells if cell.is_fixed)
    rows |= dict.fromkeys(row for cell in cells for row in cell.column.printed)
    rows |= dict.fromkeys(cell.row for cell in cells)
    blocks = list(dict.fromkeys(cell.column.block for cell in cells))
    place = {row: number for number, row in enumerate(rows)}
    return tuple(sorted(cells, key=lambda cell: (blocks.index(cell.column.block), place[cell.row])))
