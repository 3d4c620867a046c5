"""Intervals of a difference for new seeds and new items, by the crossed bootstrap.

Seeds and items are resampled independently, the same items for all rows and seeds: the "pigeonhole" bootstrap (Owen
2007, Annals of Applied Statistics 1, 386). Its variance is at least the true one, as it counts the interaction of
seeds and items up to three times. Resamples of items are drawn; those of seeds are averaged over in closed form.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy  # submodules load lazily
from numpy.typing import NDArray

from rse_study.results.item_scores import ItemScores
from rse_study.results.statistics import Interval

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
