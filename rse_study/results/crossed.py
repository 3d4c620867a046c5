"""Intervals of a difference for new seeds and new items, by the crossed bootstrap.

Seeds and items are resampled independently, the same items for all rows and seeds: the "pigeonhole" bootstrap (Owen
2007, Annals of Applied Statistics 1, 386). Its variance is at least the true one, as it counts the interaction of
seeds and items up to three times. Resamples of items are drawn; those of seeds are averaged over in closed form.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy  # submodules load lazily
from numpy.typing import NDArray

from rse_study.results.item_scores import ItemScores
from rse_study.results.statistics import Interval, t_interval

NUM_RESAMPLES = 400  # of items: the error of a standard error is 3.5 % of it
TOGETHER = 4  # resamples whose counts are fields of one number, and summed at once
Floats = NDArray[np.float64]
Counts = NDArray[Any]


def crossed_interval(
    by_seed: Floats, resampled: Floats, num_items: int, level: float = 0.95
) -> Interval | None:
    """Return the interval of a mean difference for new seeds and new items.

    Its half width is that of Student's t interval over seeds and that of the items' share, at right angles (MOVER:
    Zou and Donner 2008), so that it is never narrower than the interval for new seeds alone.

    Parameters
    ----------
    by_seed
        The difference for each seed on all items, [n].
    resampled
        The same on every resample of the items, [resamples, n].
    num_items
        The number of items, for the quantile of their share; fewer than 2 give None, as do fewer than 2 seeds.
    """
    n = len(by_seed)
    if n < 2 or num_items < 2 or not np.isfinite(resampled).all():
        return None
    mean, over_seeds = float(np.mean(by_seed)), t_interval(by_seed, level)
    crossed = resampled.mean(axis=1).var(ddof=1) + resampled.var(axis=1).mean() / n
    of_items = np.sqrt(max(0.0, crossed - np.var(by_seed) / n))
    quantile = scipy.special.stdtrit(num_items - 1, (1 + level) / 2)
    half = float(np.hypot(over_seeds.high - mean, quantile * of_items))
    return Interval(mean - half, mean + half)


def resampled_values(
    cells: Sequence[ItemScores], num_resamples: int = NUM_RESAMPLES, seed: int = 0
) -> Floats:
    """Return the value of every cell on resamples of the items, [resamples, cells].

    All cells have the same items, and each resample takes the same of them for every cell. Items with parts are
    resampled part by part. A resample without a value is NaN.
    """
    rng, gold = np.random.default_rng(seed), cells[0].gold
    part_of = np.zeros(len(cells[0])) if cells[0].parts is None else cells[0].parts
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
    """Return Spearman x100 of each row of scores [k, n] with gold, per resample.

    An item that is drawn k times is a tie of k, and the ranks of any resample follow from one sorting of all items:
    a mid-rank is the number of draws up to the item's value, less half of those at it.
    """
    by_gold, by_score = _order_of(gold), [_order_of(row) for row in scores]
    n, blocks = len(gold), []
    for start in range(0, len(counts), TOGETHER):
        fields = np.zeros((n, TOGETHER), np.uint16 if n < 2**16 else np.uint64)
        fields[:, : len(counts) - start] = counts[start : start + TOGETHER].T
        drawn = fields.T.astype(np.float64, order="C")
        cubes = np.vecdot(drawn * drawn, drawn)
        upper, excess, spread = _ranks(by_gold, fields, drawn, cubes)
        mid_ranks = upper - (drawn + n) / 2
        mid_ranks[:, by_gold.tied] -= excess / 2
        moment = drawn * mid_ranks  # sums to 0, so that ranks of scores need no centring
        half, block = np.vecdot(moment, drawn) / 2, []
        for one in by_score:
            upper, excess, own_spread = _ranks(one, fields, drawn, cubes)
            product = np.array([weights @ ranks for weights, ranks in zip(moment, upper, strict=True)])
            product -= half + np.vecdot(moment[:, one.tied], excess) / 2
            shared = spread * own_spread
            block.append(product / np.sqrt(np.where(shared > 0, shared, np.nan)))
        blocks.append(np.transpose(block))
    return 100 * np.concatenate(blocks)[: len(counts)]


class _Order(NamedTuple):
    """A column in ascending order."""

    order: Counts
    upper: Counts
    """[n], how many items are at most as large"""
    tied: Counts
    """indices of items that share their value"""
    lower: Counts
    """of each of these, how many are smaller"""


def _order_of(column: NDArray[np.floating]) -> _Order:
    order = np.argsort(column)
    ends = np.append(np.flatnonzero(np.diff(column[order])) + 1, len(column))
    sizes = np.diff(ends, prepend=0)
    upper, size = np.empty_like(order), np.empty_like(order)
    upper[order], size[order] = np.repeat(ends, sizes), np.repeat(sizes, sizes)
    tied = np.flatnonzero(size > 1)
    return _Order(order, upper, tied, (upper - size)[tied])


def _ranks(column: _Order, fields: Counts, drawn: Floats, cubes: Floats) -> tuple[Counts, Floats, Floats]:
    """Return draws up to each item's value [k, n], those that ties add to its own [k, tied], sums of squared ranks."""
    words = fields.view(np.uint64)  # as no field overflows, one sum is the sum of each
    below = np.zeros((len(words) + 1, words.shape[1]), np.uint64)
    np.cumsum(words.take(column.order, axis=0), axis=0, out=below[1:])
    upper, lower = (below.take(at, axis=0).view(fields.dtype).T for at in (column.upper, column.lower))
    own = drawn[:, column.tied]
    sizes = upper[:, column.tied] - lower.astype(np.float64)
    of_ties = (own * (sizes * sizes - own * own)).sum(axis=1)  # a tie's size cubed, less its items' own
    return upper, sizes - own, (float(drawn.shape[1]) ** 3 - cubes - of_ties) / 12
