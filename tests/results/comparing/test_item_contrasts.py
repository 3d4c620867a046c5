"""Resamples without sorting equal plain ones, and the variance is that of a literal pigeonhole bootstrap."""

import numpy as np
import pytest
from scipy.stats import spearmanr

from rse_study.results.comparing.item_contrasts import crossed_interval, resampled_values
from rse_study.results.item_scores import ItemScores
from rse_study.results.statistics import Interval, t_interval
from tests.cases import cases


def scored_cells(num: int, n: int, decimals: int, with_gold: bool = True) -> list[ItemScores]:
    """Scores that follow gold, rounded so that some are tied."""
    rng = np.random.default_rng(3)
    gold, shared = rng.integers(0, 6, n).astype(float), rng.normal(size=n)
    rows = [np.round(gold + shared + rng.normal(size=n), decimals) for _ in range(num)]
    return [ItemScores.of(row, gold if with_gold else None) for row in rows]


@pytest.mark.parametrize("decimals", [0, 1, 6])
def test_spearman_of_a_resample_equals_scipys_ties_or_not(decimals):
    given = scored_cells(3, 40, decimals)
    found, rng = resampled_values(given, 7), np.random.default_rng(0)
    for row in found:
        drawn = rng.integers(0, 40, 40)
        expected = [100 * spearmanr(one.scores[drawn], one.gold[drawn]).statistic for one in given]
        assert row == pytest.approx(expected, abs=1e-9)


def test_more_pairs_than_a_field_of_16_bits_counts_are_resampled_too():
    given = scored_cells(1, 40_000, 3)
    drawn = np.random.default_rng(0).integers(0, 40_000, 40_000)
    expected = 100 * spearmanr(given[0].scores[drawn], given[0].gold[drawn]).statistic
    assert resampled_values(given, 1)[0, 0] == pytest.approx(expected, abs=1e-9)


def test_a_mean_leaves_out_items_without_a_score_and_parts_weigh_the_same():
    scores, parts = np.array([100.0, np.nan, 0.0, 100.0, 100.0, 0.0]), np.array([0, 0, 0, 1, 1, 1])
    found, rng = resampled_values([ItemScores.of(scores, parts=parts)], 4), np.random.default_rng(0)
    draws = [[rng.integers(0, 3, 3) for _ in range(4)] for _ in range(2)]
    for row, first, second in zip(found, *draws, strict=True):
        expected = (np.nanmean(scores[:3][first]) + scores[3:][second].mean()) / 2
        assert row[0] == pytest.approx(expected)


def test_the_variance_is_that_of_drawing_seeds_and_items_one_by_one():
    given = scored_cells(5, 30, 6)
    by_seed = np.array([spearmanr(one.scores, one.gold).statistic * 100 for one in given])
    resampled = resampled_values(given, 4000)
    rng, means = np.random.default_rng(1), []
    for _ in range(4000):
        items, seeds = rng.integers(0, 30, 30), rng.integers(0, 5, 5)
        each = [spearmanr(one.scores[items], one.gold[items]).statistic * 100 for one in given]
        means.append(np.mean([each[seed] for seed in seeds]))
    of_items = np.var(means, ddof=1) - by_seed.var() / 5
    interval, seeds_alone = crossed_interval(by_seed, t_interval(by_seed), resampled, 30), t_interval(by_seed)
    half, alone = (interval.high - interval.low) / 2, (seeds_alone.high - seeds_alone.low) / 2
    assert half == pytest.approx(np.hypot(alone, 2.045 * np.sqrt(of_items)), rel=0.05)
    assert half > alone


def test_where_all_items_move_alike_only_seeds_count():
    by_seed = np.array([1.0, 2.0, 4.0])
    same = np.tile(by_seed, (50, 1))
    assert crossed_interval(by_seed, t_interval(by_seed), same, 100).high == pytest.approx(
        t_interval(by_seed).high
    )


@cases(
    ("by_seed", "resampled", "of_items"),
    [
        # Both resamples move all seeds by 2: the items' variance is that of (0, 2), and the seeds add nothing.
        ([1.0, 3.0], [[1.0, 3.0], [3.0, 5.0]], 2.0),
        ([0.0, 0.0, 6.0], [[0.0, 0.0, 6.0], [2.0, 2.0, 8.0]], 2.0),
        # Each seed answers to other items: 0 and 4 on average over seeds 2 and 2, within a resample 4 and 4.
        ([1.0, 3.0], [[0.0, 4.0], [4.0, 0.0]], 4.0 / 2 - 1.0 / 2),
    ],
)
def test_the_share_of_the_items_is_known_where_it_can_be_computed_by_hand(by_seed, resampled, of_items):
    """The variances over seeds divide by n, as a bootstrap's do, the one over resamples by n - 1."""
    over_seeds, mean = Interval(-1.0 + np.mean(by_seed), 1.0 + np.mean(by_seed)), np.mean(by_seed)
    found = crossed_interval(np.array(by_seed), over_seeds, np.array(resampled), 11, level=0.95)
    half = np.hypot(1.0, 2.228139 * np.sqrt(of_items))  # Student's t with 10 degrees of freedom
    assert (found.low, found.high) == pytest.approx((mean - half, mean + half), abs=1e-6)
