"""Rows minus a baseline for new seeds and new items, and the items that moved."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy  # submodules load lazily
from numpy.typing import NDArray

from rse_study.results.comparing import comparisons
from rse_study.results.comparing.contrasts import measures_of, with_baseline
from rse_study.results.comparing.criterion import Criterion
from rse_study.results.files.result_file import read_items
from rse_study.results.files.schema import baselines_folder, cell_folder
from rse_study.results.frame_columns import frame_of
from rse_study.results.item_scores import ItemScores
from rse_study.results.reader import Reader
from rse_study.results.row_names import names_of_cells, own_baseline
from rse_study.results.statistics import Interval
from rse_study.results.study_record import AT_CHECKPOINT

NUM_RESAMPLES = 300  # of items: the error of a standard error is 4% of it
Floats = NDArray[np.float64]
Counts = NDArray[Any]


def crossed_interval(
    by_seed: Floats, over_seeds: Interval, resampled: Floats, num_items: int, level: float = 0.95
) -> Interval:
    """Return the interval of a mean difference for new seeds and new items.

    The difference is given by seed [n], and on resamples of the items [resamples, n]. The half width is that of the
    interval over seeds (Student's, or a confidence sequence) and that of the items' share, at right angles (MOVER: Zou
    and Donner 2008), so that it is never narrower than the interval for new seeds alone. NaN below 2 items.
    """
    mean = float(np.mean(by_seed))
    crossed = resampled.mean(axis=1).var(ddof=1) + resampled.var(axis=1).mean() / len(by_seed)
    of_items = np.sqrt(np.maximum(0.0, crossed - np.var(by_seed) / len(by_seed)))
    quantile = scipy.special.stdtrit(num_items - 1, (1 + level) / 2)
    half = float(np.hypot(over_seeds.high - mean, quantile * of_items))
    return Interval(mean - half, mean + half)


def resampled_values(
    cells: Sequence[ItemScores], num_resamples: int = NUM_RESAMPLES, seed: int = 0
) -> Floats:
    """Return every cell's value on resamples of the common items, [resamples, cells].

    Items with parts are resampled part by part. A resample without a value is NaN.
    """
    rng, gold = np.random.default_rng(seed), cells[0].gold
    part_of = np.zeros(len(cells[0].scores)) if cells[0].parts is None else cells[0].parts
    values = []
    for part in np.unique(part_of):
        items = np.flatnonzero(part_of == part)
        scores = np.array([cell.scores[items] for cell in cells], np.float64)
        draws = (rng.integers(0, len(items), len(items)) for _ in range(num_resamples))
        counts = np.array([np.bincount(draw, minlength=len(items)) for draw in draws])
        values.append(_means(scores, counts) if gold is None else _spearman(scores, gold[items], counts))
    return np.mean(values, axis=0)


def _means(scores: Floats, counts: Counts) -> Floats:
    is_scored, drawn = np.isfinite(scores), counts.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (drawn @ np.where(is_scored, scores, 0.0).T) / (drawn @ is_scored.T.astype(np.float64))


def _spearman(scores: Floats, gold: Counts, counts: Counts) -> Floats:
    """Return Spearman x100 of each row of scores [k, n] with gold, per resample."""
    n, sorted_columns, found = len(gold), [_sorted(column) for column in (gold, *scores)], []
    field = np.dtype(np.uint16 if 2 * n < 2**16 else np.uint32)
    together = 8 // field.itemsize  # counts of so many resamples are fields of one number, and summed at once
    for start in range(0, len(counts), together):
        block = counts[start : start + together]
        fields = np.zeros((n, together), field)
        fields[:, : len(block)] = block.T
        drawn, values = block.astype(np.float64), []
        by_gold = _ranks(sorted_columns[0], fields)[: len(block)]
        moment = drawn * by_gold
        own = np.vecdot(moment, by_gold)
        for column in sorted_columns[1:]:
            ranks = _ranks(column, fields)[: len(block)]
            spread = own * np.vecdot(drawn * ranks, ranks)
            values.append(np.vecdot(moment, ranks) / np.sqrt(np.where(spread > 0, spread, np.nan)))
        found.append(np.transpose(values))
    return 100 * np.concatenate(found)


def _sorted(column: NDArray[np.floating]) -> tuple[Counts, Counts, Counts]:
    """Return a column's order, and for each item how many are at most as large, and how many smaller."""
    order = np.argsort(column)
    ends = np.append(np.flatnonzero(np.diff(column[order])) + 1, len(column))
    sizes = np.diff(ends, prepend=0)
    upper, lower = np.empty_like(order), np.empty_like(order)
    upper[order], lower[order] = np.repeat(ends, sizes), np.repeat(ends - sizes, sizes)
    return order, upper, lower


def _ranks(column: tuple[Counts, Counts, Counts], fields: Counts) -> Floats:
    """Return twice the centred mid-rank of every item among those drawn [k, n], without sorting them anew.

    It is the number of draws below an item's value plus that up to it, less n. No field overflows.
    """
    order, upper, lower = column
    below = np.zeros(len(order) + 1, np.uint64)
    np.cumsum(fields.view(np.uint64)[:, 0].take(order), out=below[1:])
    both = below.take(upper) + below.take(lower)
    return np.subtract(both.view(fields.dtype).reshape(fields.shape).T, float(len(order)), order="C")


NOT_KEPT = "item scores were not kept"
TOO_FEW = "fewer than 3 seeds"
RowAndSeed = tuple[str, int]


class MeasuredItems(NamedTuple):
    """Scores of one measure, and those of its items as far as they were kept."""

    measure: str
    metric: str
    minus: str
    table: pd.DataFrame
    """[rows, seeds], `minus` among the rows"""
    by_cell: Mapping[RowAndSeed, ItemScores]
    """all of the same items"""
    criterion: Criterion = Criterion()

    def cells(self, row: str, seeds: Iterable[int]) -> list[RowAndSeed]:
        """Return the cells of a row; none if one of them or of the baseline has no items."""
        pairs = [((row, seed), (self.minus, seed)) for seed in seeds]
        return [one for one, _ in pairs] if all(one in self.by_cell for two in pairs for one in two) else []


def measured_items(reader: Reader, minus: str = "") -> list[MeasuredItems]:
    """Read each measure's item scores, of rows and of the row `minus` beside them."""
    study, cells = reader.study(), reader.cells()
    names, minus, read = measures_of(study), minus or own_baseline(study, cells), cache(read_items)
    cells = cells[cells["stage"] == ("grid" if study.kind == "grid" else "confirm")]
    rows, found = names_of_cells(study, cells), []

    def items_of(subject: str, metric: str, ending: str = "") -> ItemScores | None:
        """Return the item scores of a subject on the study's present data."""
        folders = baselines_folder(reader.study_dir), cell_folder(reader.study_dir, subject)
        fingerprint = study.fingerprints.get(metric.rpartition("/")[0], "")
        return read(folders[subject not in study.baselines]).get((subject, metric + ending, fingerprint))

    for metric, scores in comparisons.scores_by_metric(reader, names).items():
        measured = metric or study.objective.evaluation
        scores = with_baseline(scores, minus, comparisons.by_subject(reader, measured), study)
        if minus in scores.table.index:
            ending = "" if metric or not study.objective.metric.endswith(AT_CHECKPOINT) else AT_CHECKPOINT
            subjects = zip(rows, cells["seed"], cells["identity"], strict=True)
            items = {(row, seed): items_of(name, measured, ending) for row, seed, name in subjects}
            fixed = [name for name, label in study.baselines.items() if label in scores.fixed_rows]
            items |= {(minus, seed): items_of(name, measured) for name in fixed for seed in scores.table}
            kept = {key: one for key, one in items.items() if one is not None}
            same = {key: one for key, one in kept.items() if one.is_beside(next(iter(kept.values())))}
            found.append(MeasuredItems(names[metric], metric, minus, scores.table, same, scores.criterion))
    return found


def crossed_frame(measured: Iterable[MeasuredItems]) -> pd.DataFrame:
    """Return both intervals of every difference, a row per measure and row."""
    return frame_of((line for one in measured for line in _intervals(one)), "crossed")


def _intervals(one: MeasuredItems) -> Iterator[dict[str, Any]]:
    contrasts = comparisons.against(one.table, one.minus)
    compared = comparisons.compare(one.table, list(contrasts.values()), criterion=one.criterion)
    level = 1 - (1 - comparisons.LEVEL) / max(1, sum(contrast is not None for contrast in compared))
    place = {cell: number for number, cell in enumerate(one.by_cell)}
    resampled = resampled_values(list(one.by_cell.values())) if place else np.zeros((0, 0))
    for row, contrast in zip(contrasts, compared, strict=True):
        line = one._asdict() | {"row": row, "num_seeds": 0, "num_items": 0, "note": TOO_FEW}
        if contrast is not None:
            cells, seeds = one.cells(row, contrast.by_seed), contrast.deciding
            line |= {"num_seeds": contrast.n, "mean": contrast.mean, "note": "" if cells else NOT_KEPT}
            line |= {"seeds_low": seeds.low, "seeds_high": seeds.high}
            if cells:
                here, there = [place[cell] for cell in cells], [place[one.minus, seed] for _, seed in cells]
                by_seed, size = np.array([*contrast.by_seed.values()]), len(one.by_cell[cells[0]].scores)
                both = crossed_interval(by_seed, seeds, resampled[:, here] - resampled[:, there], size, level)
                line |= {"num_items": size, "crossed_low": both.low, "crossed_high": both.high}
        yield line


def items_that_moved(one: MeasuredItems, row: str, number: int = 10) -> pd.Series:
    """Return the largest mean changes over seeds, by the items' place, from 0.

    A pair changes by the share of the other pairs, in per cent, that its cosine rises above.
    """
    cells = one.cells(row, comparisons.differences_by_seed(one.table, {row: 1.0, one.minus: -1.0}))
    changes = [_shown(one.by_cell[cell]) - _shown(one.by_cell[one.minus, cell[1]]) for cell in cells]
    change = pd.Series(np.mean(changes, axis=0) if changes else [], dtype=float).dropna()
    return change[change != 0].sort_values(key=lambda column: -column.abs(), kind="stable").head(number)


def _shown(items: ItemScores) -> np.ndarray:
    if items.gold is None:
        return items.scores.astype(float)
    return 100 * (scipy.stats.rankdata(items.scores) - 1) / (len(items.scores) - 1)
