"""E-values against the integral they stand for, and confidence sequences against the e-values they invert."""

import math

import numpy as np
import pytest
from scipy import integrate, stats

from rse_study.results.statistics import EVERYTHING, confidence_sequence, e_value, least_n, t_interval
from tests.cases import cases

SAMPLE = [0.4, 1.1, -0.2, 0.9, 1.6, 0.3]
NUM_STUDIES, MOST = 2000, 16


@cases(("sample", "g"), [(SAMPLE, 1.0), (SAMPLE, 0.25), ([0.1, 0.5, 0.2], 1.0), ([-2.0, 1.0], 4.0)])
def test_an_e_value_is_the_likelihood_of_t_averaged_over_effects_relative_to_no_effect(sample, g):
    n, freedom = len(sample), len(sample) - 1
    t = float(stats.ttest_1samp(sample, 0.0).statistic)

    def weighted(effect):
        return stats.nct.pdf(t, freedom, math.sqrt(n) * effect) * stats.norm.pdf(effect, 0, math.sqrt(g))

    averaged = integrate.quad(weighted, -12, 12, points=[0.0, t / math.sqrt(n)], limit=200)[0]
    assert e_value(sample, g) == pytest.approx(averaged / stats.t.pdf(t, freedom), rel=1e-6)


def test_one_difference_is_evidence_of_nothing():
    assert e_value([3.0]) == 1.0
    assert confidence_sequence([3.0]) == EVERYTHING


def test_equal_differences_count_as_the_limit_of_a_small_spread():
    sample = np.array([0.5] * 5)
    nearly = sample + 1e-6 * np.array([-1, 1, 0, 1, -1])
    assert e_value(sample) == pytest.approx(e_value(nearly), rel=1e-4) == pytest.approx(36.0)
    assert e_value([0.0] * 5) == pytest.approx(6**-0.5)
    assert confidence_sequence(sample).low == confidence_sequence(sample).high == 0.5


@cases(("level", "g"), [(0.95, 1.0), (0.9, 0.5), (0.99, 2.0)])
def test_the_ends_of_a_confidence_sequence_have_the_threshold_as_their_e_value(level, g):
    sample = np.array([*SAMPLE, 0.7, 0.2])
    interval = confidence_sequence(sample, level, g)
    for end in (interval.low, interval.high):
        assert e_value(sample - end, g) == pytest.approx(1 / (1 - level))


def test_a_confidence_sequence_is_wider_than_the_interval_for_one_look():
    one_look, any_look = t_interval(SAMPLE), confidence_sequence(SAMPLE)
    assert any_look.low < one_look.low < one_look.high < any_look.high


@cases("level", (0.95, 0.9, 1 - 0.05 / 12))
def test_fewer_than_the_least_number_of_differences_can_exclude_nothing(level):
    least = least_n(level)
    assert confidence_sequence([1.0] * least, level) != EVERYTHING
    assert confidence_sequence([1.0] * (least - 1), level) == EVERYTHING


def test_looking_after_every_seed_makes_no_more_errors_than_promised():
    """t intervals, looked at from 3 seeds on, make some 20% where 5% are promised."""
    differences = np.random.default_rng(0).normal(size=(NUM_STUDIES, MOST))

    def share_of_false(interval_of):
        return np.mean(
            [any(interval_of(one[:n]).excludes(0.0) for n in range(3, MOST + 1)) for one in differences]
        )

    assert share_of_false(confidence_sequence) < 0.05
    assert share_of_false(t_interval) > 0.15
