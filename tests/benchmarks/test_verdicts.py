"""The simulation of verdicts: it decides as the project does, and keeps to the errors that are promised."""

import numpy as np

from benchmarks.verdicts import decide, half_widths, wrong_at
from rse_study.results.comparing.criterion import Criterion
from tests.cases import cases

NUM_STUDIES = 2000
ERROR = 2.6 * np.sqrt(0.05 * 0.95 / NUM_STUDIES)  # of simulation, exceeded in one of 100 cases
PEEKS = range(3, 17)


@cases("is_anytime", (False, True))
def test_simulated_intervals_are_those_of_the_criterion(is_anytime):
    for n in (3, 5, 8, 16):
        sample = np.random.default_rng(n).normal(size=n)
        interval = Criterion(is_anytime).interval(sample, num_together=6)
        (half,) = half_widths(sample.std(ddof=1, keepdims=True), n, is_anytime=is_anytime, level=1 - 0.05 / 6)
        assert np.allclose([interval.low, interval.high], [sample.mean() - half, sample.mean() + half])


def test_peeking_breaks_the_promise_of_t_intervals_and_not_of_confidence_sequences():
    drawn = np.random.default_rng(0).normal(size=(NUM_STUDIES, 16))

    def false(looks, **criterion):
        shares = decide(drawn, looks, **criterion).shares
        return shares["better"] + shares["worse"]

    assert abs(false([8], is_anytime=False) - 0.05) < ERROR
    assert false(PEEKS, is_anytime=False) > 0.15
    assert false(PEEKS, is_anytime=True) < 0.05 + ERROR


def test_rows_that_differ_by_the_margin_are_called_the_same_no_more_often_than_promised():
    drawn = np.random.default_rng(1).normal(1.0, 1.0, size=(NUM_STUDIES, 16))
    assert decide(drawn, [8], is_anytime=False, margin=1.0).shares["same"] < 0.05 + ERROR
    assert decide(drawn, PEEKS, is_anytime=True, margin=1.0).shares["same"] < 0.05 + ERROR
    assert decide(drawn - 1.0, PEEKS, is_anytime=True, margin=1.0).shares["same"] > 0.4


def test_a_large_effect_is_decided_with_few_seeds():
    drawn = np.random.default_rng(2).normal(2.0, 1.0, size=(NUM_STUDIES, 16))
    found = decide(drawn, PEEKS, is_anytime=True)
    assert found.shares["better"] > 0.99
    assert 6 < found.mean_seeds < 8


@cases("num_rows", (1, 3, 6))
def test_a_study_that_still_runs_is_wrong_at_some_time_no_more_often_than_promised(num_rows):
    scores = np.random.default_rng(num_rows).normal(size=(NUM_STUDIES, num_rows + 1, 8))
    drawn = scores[:, 1:] - scores[:, :1]
    so_far = wrong_at(drawn, range(3, 8), is_anytime=True)
    assert so_far.mean() < 0.01
    assert (so_far | wrong_at(drawn, [8], is_anytime=False)).mean() < 0.05 + ERROR
    assert wrong_at(drawn, range(3, 9), is_anytime=False).mean() > 0.12
