"""Every figure computed a second time: by definition, in plain Python or with quantiles of scipy.stats."""

import math
from fractions import Fraction
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from rse_study.results.comparing.criterion import Criterion
from rse_study.results.statistics import (
    Interval,
    bca_interval,
    confidence_sequence,
    effect_size,
    holm,
    least_p,
    sign_flip_p,
    t_interval,
    wilcoxon_p,
)
from tests.cases import cases

# Differences in tenths, so that brute force may count in integers: all of one sign, mixed, with ties, with zeros,
# with sums that are equal in tenths but not in binary fractions (0.1 + 0.2 - 0.3), and a sum of 0.
TENTHS = (
    (5,), (-5,), (0,), (3, 3), (1, 2, -3), (1, 2, 3), (3, -1, 2, 7, 3), (0, 0, 4, -1, 2), (6, -3, 3, 2, -2, 1, 8),
    (1, 1, 1, 1, 1, 1, 1, 1), (-9, -7, -5, -3, -2, -1, -4, -8), (-3, 14, 7, 1, 7, -1, 3, 12), (0, 0, 0),
    (11, 7, -2, 5, 9, 3, -6, 10, 1, 4),
)  # fmt: skip
SAMPLE = np.array([0.31, -0.12, 0.95, 0.44, 1.82, 0.27, -0.05, 0.6])
SKEWED = np.array([0.03, 0.11, 0.2, 0.28, 0.41, 0.77, 1.3, 3.9])


def ends(interval):
    return [interval.low, interval.high]


def as_array(tenths):
    return np.array(tenths) / 10


def share_of_signs(terms, as_extreme):
    """The share of all sign patterns of `terms` for which the signed terms are `as_extreme`."""
    patterns = [
        [sign * term for sign, term in zip(signs, terms, strict=True)]
        for signs in product((-1, 1), repeat=len(terms))
    ]
    return sum(map(as_extreme, patterns)) / len(patterns)


def brute_sign_flip(tenths):
    observed = abs(sum(tenths))
    return share_of_signs([abs(x) for x in tenths], lambda signed: abs(sum(signed)) >= observed)


def brute_wilcoxon(tenths):
    """Mid-ranks by counting: 1 + those below + half of the other equal ones. W+ - mean is half the signed sum."""
    kept = [x for x in tenths if x]
    sizes = [abs(x) for x in kept]
    ranks = [1 + sum(y < x for y in sizes) + Fraction(sum(y == x for y in sizes) - 1, 2) for x in sizes]
    mean = sum(ranks) / 2
    observed = abs(sum(rank for rank, x in zip(ranks, kept, strict=True) if x > 0) - mean)
    return share_of_signs(ranks, lambda signed: abs(sum(r for r in signed if r > 0) - mean) >= observed)


def brute_holm(p_values):
    """max over all p_j <= p_i of (number of p not ranked before j) * p_j, at most 1."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    scaled = [(len(p_values) - place) * p_values[i] for place, i in enumerate(order)]
    return [min(1.0, max(scaled[: order.index(i) + 1])) for i in range(len(p_values))]


def widened_tail(n, level):
    """Hesterberg 2015, expanded percentile: the share beyond each end before the bias is corrected."""
    return NormalDist().cdf(-math.sqrt(n / (n - 1)) * stats.t.ppf((1 + level) / 2, n - 1))


def direct_bca(values, level, num_resamples, seed):
    """Efron 1987, one step after the other; the acceleration from the means that leave one value out."""
    normal, n, draws = NormalDist(), len(values), np.random.RandomState(seed)
    means = draws.choice(values, (num_resamples, n)).mean(axis=1)
    z0 = normal.inv_cdf(float(np.mean(means < values.mean())))
    left_out = [np.delete(values, i).mean() for i in range(n)]
    centre = sum(left_out) / n
    cubes, squares = sum((centre - x) ** 3 for x in left_out), sum((centre - x) ** 2 for x in left_out)
    acceleration = cubes / (6 * squares**1.5)
    tail = widened_tail(n, level)
    found = []
    for share in (tail, 1 - tail):
        z = z0 + normal.inv_cdf(share)
        found.append(float(np.quantile(means, normal.cdf(z0 + z / (1 - acceleration * z)))))
    return found


def test_an_end_is_not_excluded():
    interval = Interval(low=-1.0, high=2.0)
    expected = [True, False, False, False, True]
    assert [interval.excludes(x) for x in (-1.001, -1.0, 0.0, 2.0, 2.001)] == expected


@cases("level", [0.5, 0.9, 0.95, 0.999])
@cases("n", [2, 3, 8])
def test_t_interval_is_mean_plus_minus_quantile_times_standard_error(n, level):
    values = SAMPLE[:n].tolist()
    mean = sum(values) / n
    error = math.sqrt(sum((x - mean) ** 2 for x in values) / (n - 1) / n)
    half = stats.t.isf((1 - level) / 2, n - 1) * error
    assert ends(t_interval(SAMPLE[:n], level)) == pytest.approx([mean - half, mean + half], rel=1e-9)


@cases("level", [0.8, 0.95])
@cases("values", [SAMPLE, SKEWED, -SKEWED, SKEWED[[1, 6, 7]]], ids=["mild", "skewed", "mirrored", "three"])
def test_bca_interval_is_that_of_a_direct_computation(values, level):
    """Means over 40 seeds of 5,000 resamples, within 4 standard errors of their difference: Monte-Carlo alone."""
    ours = np.array([ends(bca_interval(values, level, 5000, seed)) for seed in range(40)])
    direct = np.array([direct_bca(values, level, 5000, seed) for seed in range(40)])
    error = np.sqrt((ours.var(axis=0, ddof=1) + direct.var(axis=0, ddof=1)) / 40)
    assert (np.abs(ours.mean(axis=0) - direct.mean(axis=0)) <= 4 * error + 1e-9).all()


@cases(("n", "level"), [(2, 0.9), (2, 0.95), (3, 0.99), (4, 0.999)])
def test_bca_interval_of_few_values_ends_at_the_outermost(n, level):
    """Widened (to 18 SD for n = 2) the tail is no share of the resamples, and 1 - tail rounds to 1."""
    values = SAMPLE[:n]
    assert ends(bca_interval(values, level)) == pytest.approx([values.min(), values.max()])


def test_bca_interval_counts_half_of_what_is_equal_to_the_mean():
    """27% of the resamples have mean 0; all of them on one side would make symmetric values asymmetric."""
    assert ends(bca_interval(np.array([-1.0] * 4 + [1.0] * 4))) == [-0.75, 0.75]


def test_bca_interval_is_a_function_of_its_seed_alone():
    again = [bca_interval(SKEWED, 0.95, 999, seed) for seed in (3, 3, 4)]
    assert again[0] == again[1] != again[2]
    assert bca_interval(SKEWED) == bca_interval(SKEWED, 0.95, 9999, 0)
    np.random.seed(5)
    expected = np.random.random()
    np.random.seed(5)
    bca_interval(SAMPLE, 0.95, 999)
    assert np.random.random() == expected


@cases("value", [0.0, 2.0, 0.1])
def test_values_that_are_all_equal_are_an_interval_without_width(value):
    equal = np.full(3, value)
    for interval in (t_interval(equal), bca_interval(equal)):
        assert ends(interval) == pytest.approx([value, value], abs=1e-12)


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_simultaneous_intervals_share_the_error_among_them(level):
    samples = [SAMPLE, SKEWED, SAMPLE[:2], SKEWED[2:7], -SAMPLE, SKEWED - SAMPLE]
    found = [Criterion().interval(sample, len(samples), level) for sample in samples]
    assert len(found) == 6
    for values, interval in zip(samples, found, strict=True):
        n = len(values)
        half = stats.t.isf((1 - level) / 6 / 2, n - 1) * values.std(ddof=1) / math.sqrt(n)
        assert ends(interval) == pytest.approx([values.mean() - half, values.mean() + half])


@cases("tenths", TENTHS, ids=str)
def test_sign_flip_p_is_the_share_of_all_patterns(tenths):
    assert sign_flip_p(as_array(tenths)) == brute_sign_flip(tenths)


@cases("tenths", TENTHS, ids=str)
def test_wilcoxon_p_is_the_share_of_all_patterns(tenths):
    assert wilcoxon_p(as_array(tenths)) == brute_wilcoxon(tenths)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=7))
def test_exact_tests_of_any_differences_are_brute_force(tenths):
    differences = as_array(tenths)
    assert sign_flip_p(differences) == sign_flip_p(-differences) == brute_sign_flip(tenths)
    assert wilcoxon_p(differences) == wilcoxon_p(-differences) == brute_wilcoxon(tenths)


@pytest.mark.parametrize("scores", [(75.1, 75.0, 74.6, 74.7), (80.3, 80.0, 71.5, 71.8)], ids=str)
def test_differences_that_are_equal_up_to_rounding_are_ties(scores):
    """75.1 - 75.0 and 74.6 - 74.7 differ in their last bits, although both are a tenth."""
    first, second, third, fourth = scores
    differences = np.array([first - second, third - fourth, first - second, 0.5])
    tenths = [round(10 * x) for x in differences]
    assert sign_flip_p(differences) == brute_sign_flip(tenths)
    assert wilcoxon_p(differences) == brute_wilcoxon(tenths)


@cases("n", [1, 2, 5, 8, 12])
def test_least_p_is_that_of_differences_of_one_sign(n):
    differences = as_array(range(1, n + 1))
    assert least_p(n) == sign_flip_p(differences) == wilcoxon_p(-differences) == 2 / 2**n


def test_twenty_differences_are_still_tested_exactly_and_twenty_one_refused():
    differences = as_array([*range(1, 20), -1])
    # At least as extreme: no minus, or minus at one of the two 0.1 alone: 3 patterns, and their mirror images.
    assert sign_flip_p(differences) == 6 / 2**20
    assert wilcoxon_p(np.arange(1.0, 21.0)) == least_p(20)
    with pytest.raises(ValueError, match="20"):
        sign_flip_p(np.ones(21))


P_VALUES = (
    (0.04,), (0.01, 0.04, 0.03, 0.005), (0.5, 0.5, 0.5), (0.02, 0.02, 0.9), (0.0, 1.0), (0.6, 0.01, 0.011, 0.0101),
)  # fmt: skip


@cases("p_values", P_VALUES, ids=str)
def test_holm_is_its_definition(p_values):
    assert holm(np.array(p_values)) == pytest.approx(brute_holm(p_values), rel=1e-12)


# J(m) = gamma(m/2) / (sqrt(m/2) gamma((m-1)/2)) for m = n - 1, its gammas written out.
FACTORS = (
    (3, 1 / math.sqrt(math.pi)), (4, math.sqrt(math.pi / 6)), (5, math.sqrt(2 / math.pi)),
    (6, 3 / 4 * math.sqrt(math.pi / 2.5)), (8, 15 / 16 * math.sqrt(math.pi / 3.5)),
)  # fmt: skip


@cases(("n", "factor"), FACTORS)
def test_effect_size_is_mean_over_sd_times_the_factor_of_hedges(n, factor):
    # 1 .. n: mean (n + 1) / 2, variance n (n + 1) / 12.
    uncorrected = (n + 1) / 2 / math.sqrt(n * (n + 1) / 12)
    assert effect_size(np.arange(1.0, n + 1)) == pytest.approx(uncorrected * factor)
    assert effect_size(np.arange(-n, 0.0)) == pytest.approx(-uncorrected * factor)


@cases("value", [2.0, 0.1, 1e-9])
@cases("n", [3, 6, 8])
def test_effect_size_without_spread_is_infinite(n, value):
    assert [effect_size(np.full(n, x)) for x in (value, -value, 0.0)] == [math.inf, -math.inf, 0.0]


def test_two_differences_have_no_effect_size_and_nothing_is_nothing():
    """J(1) = 0: with one degree of freedom no factor makes the ratio right on average."""
    with pytest.raises(ValueError, match="3 finite numbers"):
        effect_size(np.array([1.0, 2.0]))
    with pytest.raises(ValueError, match="0 differences"):
        least_p(0)


BAD_SAMPLES = {
    "empty": [], "one": [1.0], "nan": [1.0, math.nan, 2.0], "inf": [1.0, math.inf, 2.0],
}  # fmt: skip
OF_A_SAMPLE = {
    "t": t_interval, "bca": bca_interval, "effect size": effect_size,
    "simultaneous": lambda x: Criterion().interval(x, 2),
}  # fmt: skip


@cases("values", BAD_SAMPLES.values(), ids=BAD_SAMPLES)
@cases("figure_of", OF_A_SAMPLE.values(), ids=OF_A_SAMPLE)
def test_a_sample_that_gives_no_figure_is_refused(figure_of, values):
    with pytest.raises(ValueError, match="finite numbers"):
        figure_of(np.array(values, dtype=float))


@cases("values", [[], [1.0, math.nan], [-math.inf, 1.0]], ids=str)
@cases("p_of", [sign_flip_p, wilcoxon_p, holm])
def test_no_p_of_nothing_or_of_no_number(p_of, values):
    with pytest.raises(ValueError, match="must be at least"):
        p_of(np.array(values, dtype=float))


@cases("level", [-0.5, 0.0, 1.0, 95.0, math.nan])
@cases("figure_of", [
    t_interval, bca_interval, confidence_sequence,
])  # fmt: skip
def test_a_level_is_between_nought_and_one(figure_of, level):
    with pytest.raises(ValueError, match="level"):
        figure_of(SAMPLE, level)
