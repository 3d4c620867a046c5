"""Rank correlations by hand, against scipy's, and their bootstrap against one resample after the other."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from rse_study.search.rank_agreement import rank_agreement

FEW_VALUES = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=2, max_size=15)


def test_by_hand_without_and_with_ties():
    """One swap among four: sum d^2 = 2, rho = 1 - 6 * 2 / (4 * 15); 5 pairs agree, 1 does not: tau = 4 / 6."""
    found = rank_agreement([10.0, 20.0, 30.0, 40.0], [1.0, 3.0, 2.0, 4.0])
    assert found.spearman == pytest.approx(0.8)
    assert found.kendall == pytest.approx(2 / 3)
    assert found.num_pairs == 4
    # x ties in one pair of six: 4 agree, 1 does not; tau-b = 3 / sqrt(5 * 6). Ranks 1.5 1.5 3 4 against 1 3 2 4.
    found = rank_agreement([1.0, 1.0, 2.0, 3.0], [1.0, 3.0, 2.0, 4.0])
    assert found.kendall == pytest.approx(3 / np.sqrt(30))
    assert found.spearman == pytest.approx(3 / np.sqrt(4.5 * 5))


@given(pairs=FEW_VALUES)
def test_it_is_what_scipy_says_ties_and_all(pairs):
    one, other = (np.array(side, dtype=float) for side in zip(*pairs, strict=True))
    found = rank_agreement(one, other, num_resamples=10)
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        assert np.isnan([found.spearman, found.kendall, found.spearman_interval.low]).all()
        return
    assert found.spearman == pytest.approx(scipy.stats.spearmanr(one, other).statistic)
    assert found.kendall == pytest.approx(scipy.stats.kendalltau(one, other).statistic)


def test_the_bootstrap_is_one_resample_after_the_other():
    draw = np.random.default_rng(3)
    one = draw.integers(0, 9, 12).astype(float)
    other = one + draw.normal(0, 3, 12).round()
    found = rank_agreement(one, other, num_resamples=60, seed=5)
    chosen = np.random.default_rng(5).integers(12, size=(60, 12))
    for name, coefficient in (("spearman", scipy.stats.spearmanr), ("kendall", scipy.stats.kendalltau)):
        values = [coefficient(one[rows], other[rows]).statistic for rows in chosen]
        interval = getattr(found, f"{name}_interval")
        assert (interval.low, interval.high) == pytest.approx(np.quantile(values, [0.025, 0.975]))


def test_the_same_seed_gives_the_same_interval():
    one, other = np.random.default_rng(0).normal(size=(2, 20))
    assert rank_agreement(one, other, seed=1) == rank_agreement(one, other, seed=1)
    assert rank_agreement(one, other, seed=1) != rank_agreement(one, other, seed=2)


@pytest.mark.parametrize("num", [8, 40])
def test_an_interval_holds_the_truth_about_as_often_as_it_says(num):
    """Normal pairs with correlation 0.6: rho of the population is 6 / pi * asin(0.3)."""
    truth, within = float(6 / np.pi * np.arcsin(0.3)), []
    for seed in range(150):
        draw = np.random.default_rng(seed)
        one = draw.normal(size=num)
        found = rank_agreement(one, 0.6 * one + 0.8 * draw.normal(size=num), num_resamples=200)
        within.append(not found.spearman_interval.excludes(truth))
    assert np.mean(within) == pytest.approx(0.95, abs=0.04)


@pytest.mark.parametrize("pairs", [([], []), ([1.0], [2.0])])
def test_too_few_pairs_have_none(pairs):
    assert np.isnan(rank_agreement(*pairs).spearman)


@pytest.mark.parametrize("pairs", [([1.0, 2.0], [1.0]), ([1.0, np.nan], [1.0, 2.0])])
def test_what_is_no_pair_is_refused(pairs):
    with pytest.raises(ValueError, match="pairs must be finite"):
        rank_agreement(*pairs)
    with pytest.raises(ValueError, match="level"):
        rank_agreement([1.0, 2.0], [1.0, 2.0], level=1.0)
