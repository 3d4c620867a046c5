"""Intervals of a difference for new seeds and new items, by the crossed bootstrap.

Seeds and items are resampled independently, the same items for all rows and seeds: the "pigeonhole" bootstrap (Owen
2007, Annals of Applied Statistics 1, 386). Its variance is at least the true one, as it counts the interaction of
seeds and items up to three times. Resamples of items are drawn; those of seeds are averaged over in closed form.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy  # submodules load lazily
from numpy.typing import NDArray

from rse_study.results.item_scores import ItemScores
from rse_study.results.statistics import Interval, t_interval

NUM_RESAMPLES = 400  # of items: the error of a standard error is 3.5 % of it
Floats = NDArray[np.float64]
Columns = NDArray[np.float32]
Counts = NDArray[np.int32]


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
    over_seeds = t_interval(by_seed, level)
    mean = float(np.mean(by_seed))
    crossed = resampled.mean(axis=1).var(ddof=1) + resampled.var(axis=1).mean() / n
    of_items = max(0.0, float(crossed - np.var(by_seed) / n))
    half = np.hypot(
        over_seeds.high - mean,
        scipy.special.stdtrit(num_items - 1, (1 + level) / 2) * np.sqrt(of_items),
    )
    return Interval(mean - float(half), mean + float(half))


def resampled_values(
    cells: Sequence[ItemScores], num_resamples: int = NUM_RESAMPLES, seed: int = 0
) -> Floats:
    """Return the value of every cell on resamples of the items, [resamples, cells].

    All cells have the same items, and each resample takes the same of them for every cell. Items with parts are
    resampled part by part. A resample without a value is NaN.
    """
    rng, first, parts = np.random.default_rng(seed), cells[0], list[Floats]()
    for items in _parts(first):
        counts = np.array([_draw(rng, len(items)) for _ in range(num_resamples)])
        parts.append(_values([cell.scores[items] for cell in cells], first.gold, items, counts))
    return np.mean(parts, axis=0)


def values_of(cells: Sequence[ItemScores]) -> Floats:
    """Return the value of every cell on its items as they are, [cells]."""
    parts = [
        _values(
            [cell.scores[items] for cell in cells], cells[0].gold, items, np.ones((1, len(items)), np.int32)
        )
        for items in _parts(cells[0])
    ]
    return np.mean(parts, axis=0)[0]


def _values(
    scores: Sequence[Columns], gold: Columns | None, items: NDArray[np.int64], counts: Counts
) -> Floats:
    given = np.array(scores, np.float64)
    return _means(given, counts) if gold is None else _spearman(given, gold[items], counts)


def _parts(cell: ItemScores) -> Iterator[NDArray[np.int64]]:
    """Yield the indices of each part's items."""
    if cell.parts is None:
        yield np.arange(len(cell))
    else:
        yield from (np.flatnonzero(cell.parts == part) for part in np.unique(cell.parts))


def _draw(rng: np.random.Generator, n: int) -> Counts:
    return np.bincount(rng.integers(0, n, n), minlength=n).astype(np.int32)


def _means(scores: Floats, counts: Counts) -> Floats:
    """Return the mean of each row over the items that have a score."""
    is_scored, drawn = np.isfinite(scores), counts.astype(np.float64)
    with np.errstate(invalid="ignore"):
        return (drawn @ np.where(is_scored, scores, 0.0).T) / (drawn @ is_scored.T.astype(np.float64))


def _spearman(scores: Floats, gold: Columns, counts: Counts) -> Floats:
    """Return Spearman x100 of each row of scores [k, n] with gold, per resample."""
    by_gold, by_score = _Order.of(gold), [_Order.of(row) for row in scores]
    together = 4 if len(gold) < 2**16 else 2
    found = []
    for start in range(0, len(counts), together):
        block = _Resamples.of(counts[start : start + together], together, by_gold)
        found.append([block.correlations(one) for one in by_score])
    return 100 * np.concatenate(found, axis=1).T[: len(counts)]


@dataclass(frozen=True, eq=False)
class _Order:
    """A column in ascending order, from which the ranks of any resample follow without sorting."""

    order: NDArray[np.int64]
    upper: NDArray[np.int64]
    """[n], how many items are at most as large"""
    tied: NDArray[np.int64]
    """indices of the items that share their value"""
    lower: NDArray[np.int64]
    """of each of these, how many are smaller"""

    @classmethod
    def of(cls, column: NDArray[np.floating]) -> "_Order":
        order = np.argsort(column)
        ends = np.append(np.flatnonzero(np.diff(column[order])) + 1, len(column))
        sizes = np.diff(ends, prepend=0)
        upper, size = np.empty_like(order), np.empty_like(order)
        upper[order], size[order] = np.repeat(ends, sizes), np.repeat(sizes, sizes)
        tied = np.flatnonzero(size > 1)
        return cls(order, upper, tied, (upper - size)[tied])


@dataclass(frozen=True, eq=False)
class _Resamples:
    """How often each item is drawn in some resamples, and what all columns need of that.

    An item that is drawn k times is a tie of k: its mid-rank is its upper rank minus half the size of its tie.
    """

    packed: NDArray[np.uint64]
    """[n], the counts of all resamples as fields of one number: they are summed at once, and none overflows"""
    drawn: Floats
    """[resamples, n], the counts"""
    cubes: Floats
    """[resamples], sum of the counts cubed"""
    moment: Floats
    """[resamples, n], counts times centred mid-ranks of gold, which sum to 0"""
    half: Floats
    """[resamples], sum of moments times half the counts"""
    spread: Floats
    """[resamples], sum of squares of the mid-ranks of gold"""

    @classmethod
    def of(cls, counts: Counts, together: int, gold: _Order) -> "_Resamples":
        fields = np.zeros((counts.shape[1], together), f"u{8 // together}")
        fields[:, : len(counts)] = counts.T
        drawn = np.ascontiguousarray(fields.T, np.float64)
        cubes = np.vecdot(drawn * drawn, drawn)
        blank = cls(fields.view(np.uint64)[:, 0], drawn, cubes, drawn, cubes, cubes)
        upper, excess, spread = blank.ranks(gold)
        mid_ranks = upper - drawn / 2 - counts.shape[1] / 2
        mid_ranks[:, gold.tied] -= excess / 2
        moment = drawn * mid_ranks
        return replace(blank, moment=moment, half=np.vecdot(moment, drawn) / 2, spread=spread)

    def ranks(self, column: _Order) -> tuple[NDArray[Any], Floats, Floats]:
        """Return upper ranks [k, n], what ties add to an item's size [k, tied], and the ranks' sums of squares."""
        below = np.zeros(len(self.packed) + 1, np.uint64)
        np.cumsum(self.packed.take(column.order), out=below[1:])
        upper, lower = self._fields(below.take(column.upper)), self._fields(below.take(column.lower))
        sizes, own = upper[:, column.tied] - lower.astype(np.float64), self.drawn[:, column.tied]
        cubes = self.cubes + (own * (sizes * sizes - own * own)).sum(
            axis=1
        )  # of a tie: its items' size squared
        return upper, sizes - own, (float(len(self.packed)) ** 3 - cubes) / 12

    def correlations(self, column: _Order) -> Floats:
        """Return Spearman of a column with gold per resample; NaN where all that was drawn is tied."""
        upper, excess, spread = self.ranks(column)
        product = np.array([one @ ranks for one, ranks in zip(self.moment, upper, strict=True)])
        product -= self.half + np.vecdot(self.moment[:, column.tied], excess) / 2
        shared = spread * self.spread
        return np.where(shared > 0, product, np.nan) / np.sqrt(np.where(shared > 0, shared, 1.0))

    def _fields(self, packed: NDArray[np.uint64]) -> NDArray[Any]:
        together = len(self.drawn)
        return packed.view(f"u{8 // together}").reshape(len(packed), together).T
