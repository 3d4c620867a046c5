"""The race by hand, on cases whose threshold is known."""

import math

import pytest

from rse_study.search.race import RacingTrial, race
from tests.cases import cases

T_95_2, T_95_4 = 2.919986, 2.131847
"""Student's one-sided quantiles of 2 and 4 degrees of freedom, from a table"""
WHOLE = [RacingTrial(0, (50.0, 52.0)), RacingTrial(1, (60.0, 62.0))]
"""Two trials of two seeds: within each the variance is 2, so that the noise is sqrt(2) with 2 degrees of freedom."""


def verdicts(trials, num_seeds=2, less_is_better=False):
    return list(race(trials, num_seeds, less_is_better=less_is_better).values())


def test_of_one_seed_there_is_no_race_and_the_first_two_trials_run_all_of_several():
    assert verdicts([RacingTrial(0, (50.0,)), RacingTrial(1, (99.0,))], num_seeds=1) == ["over", "over"]
    trials = [RacingTrial(0, (90.0, 90.1)), RacingTrial(1, (0.0, 0.1))]
    assert verdicts(trials, num_seeds=3) == ["next", "next"]
    whole = [RacingTrial(0, (90.0, 90.1, 90.2)), RacingTrial(1, (0.0, 0.1, 0.2)), RacingTrial(2, (0.0,))]
    assert verdicts(whole, num_seeds=3) == ["over", "over", "over"]


def test_who_waits_drops_out_or_ties_is_told_by_the_others():
    trials = [
        RacingTrial(0, (50.0,), is_running=True),
        RacingTrial(1, (), is_running=True),
        RacingTrial(2, (99.0,)),
    ]
    assert verdicts(trials) == ["running", "running", "waiting"]
    trials = [RacingTrial(0, (50.0,), is_out=True), RacingTrial(1, (), is_out=True), RacingTrial(2, (1.0,))]
    assert verdicts([*trials, RacingTrial(3, (2.0,)), RacingTrial(4, (3.0,))]) == [
        "over", "over", "next", "next", "waiting",
    ]  # fmt: skip
    found = verdicts([*WHOLE, RacingTrial(2, (99.0,), is_out=True), RacingTrial(3, (), is_out=True)])[2:]
    assert found == ["over", "over"]
    whole = [RacingTrial(0, (50.0, 50.0)), RacingTrial(1, (60.0, 60.0))]
    assert verdicts([*whole, RacingTrial(2, (60.0,)), RacingTrial(3, (59.999,))])[2:] == ["next", "over"]


@cases(("off", "said"), [(-1e-3, "next"), (1e-3, "over")])
@cases("less_is_better", [False, True])
def test_the_threshold_of_the_second_seed(off, said, less_is_better):
    """Against the incumbent's first seed, 60, not its mean; sd of the difference: sqrt(2) * sqrt(2 / 1) = 2."""
    sign = -1 if less_is_better else 1
    whole = [
        RacingTrial(n, tuple(sign * v for v in values))
        for n, values in enumerate(((50.0, 52.0), (60.0, 62.0)))
    ]
    value = 60.0 - 2 * T_95_2 - off
    assert verdicts([*whole, RacingTrial(2, (sign * value,))], less_is_better=less_is_better)[2] == said


@pytest.mark.parametrize(("off", "said"), [(-1e-3, "next"), (1e-3, "over")])
def test_the_threshold_of_the_third_seed_is_nearer_and_the_noise_pooled(off, said):
    whole = [RacingTrial(0, (50.0, 51.0, 52.0)), RacingTrial(1, (60.0, 63.0, 66.0))]
    noise = math.sqrt((1 + 1 + 9 + 9) / 4)
    mean = 61.5 - T_95_4 * noise * math.sqrt(2 / 2) - off
    assert verdicts([*whole, RacingTrial(2, (mean + 5, mean - 5))], num_seeds=3)[2] == said


def test_a_trial_with_two_of_three_seeds_tells_the_noise_and_is_no_incumbent():
    whole = [RacingTrial(0, (50.0, 51.0, 52.0)), RacingTrial(1, (60.0, 61.0, 62.0))]
    noise = math.sqrt((2 + 2 + 2.0) / 5)  # of the third: 98 and 100
    t_95_5 = 2.015048
    for off, said in ((-1e-3, "next"), (1e-3, "over")):
        trials = [*whole, RacingTrial(2, (98.0, 100.0), is_out=True)]
        value = 60.0 - t_95_5 * noise * math.sqrt(2) - off
        assert verdicts([*trials, RacingTrial(3, (value,))], num_seeds=3)[3] == said


def test_trials_of_higher_number_change_no_verdict():
    trials = [*WHOLE, RacingTrial(2, (58.0,)), RacingTrial(3, (70.0, 71.0)), RacingTrial(4, (20.0,))]
    every = race(trials, 2, less_is_better=False)
    for number in range(1, 5):
        assert race(trials[:number], 2, less_is_better=False) == {n: every[n] for n in range(number)}
