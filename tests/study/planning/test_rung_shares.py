"""How many trials get past a rung, by hand and against searches that are played through."""

import random

import pytest

from rse_study.search.stopping import Asha, Hyperband, Median, TrialAtRung
from rse_study.search.stopping.hyperband import bracket_of
from rse_study.study.planning.estimates import exactly
from rse_study.study.planning.rung_shares import stopped_share
from tests.cases import cases


@cases(
    ("first", "factor", "num_steps", "rungs", "share"),
    [
        (15, 2, 60, (15, 30), (15 + 15 / 2 + 30 / 4) / 60),
        (10, 3, 90, (10, 30), (10 + 20 / 3 + 60 / 9) / 90),
        (10, 2, 10, (), 1.0),
    ],
)
def test_the_share_that_early_stopping_leaves(first, factor, num_steps, rungs, share):
    told = stopped_share(Asha(first=first, factor=factor), rungs, num_steps, 16)
    assert (told.low, told.mid, told.high) == pytest.approx((share, (share + 1) / 2, 1.0))


def test_without_early_stopping_everything_runs():
    assert stopped_share(None, (), 60, 16) == exactly(1.0)


def test_the_share_is_what_synchronous_halving_leaves_and_the_rules_by_hand():
    """81 cells, a third of which pass each rung: the steps they run in all."""
    cells, steps, reached = 81, 0, 0
    for rung in (10, 30, 90):
        steps += cells * (rung - reached)
        cells, reached = cells // 3, rung
    share = stopped_share(Asha(first=10, factor=3), (10, 30), 90, 81).low
    assert share == pytest.approx(steps / (81 * 90))
    rule = Median(first=10, every=10, num_startup=4)
    assert rule.shares_past(3, 20) == pytest.approx([12 / 20, 8 / 20, 6 / 20])
    assert rule.shares_past(2, 3) == [1.0, 1.0]
    # Factor 2, two rungs: of 10 trials 4 are stopped from the first rung on, 3 from the second, 3 never.
    passed = [(4 / 2 + 3 + 3) / 10, (4 / 4 + 3 / 2 + 3) / 10]
    assert Hyperband(first=15, factor=2).shares_past(2, 16) == pytest.approx(passed)


RULES = [
    Asha(first=10, factor=2),
    Asha(first=10, factor=3),
    Median(first=10, every=10, num_startup=5),
    Hyperband(first=10, factor=2),
]


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_searches_that_are_played_through_lie_in_the_range(rule):
    """Trials one after the other, in an order of quality that no sampler has changed."""
    rungs, num_steps, num_trials = rule.rungs(60), 60, 200
    told, shares = stopped_share(rule, rungs, num_steps, num_trials), []
    for seed in range(5):
        draw, values, steps = random.Random(seed), {t: {} for t in rungs}, 0
        for trial in range(num_trials):
            steps += _trained(rule, trial, draw.random(), values, rungs, num_steps, seed)
        shares.append(steps / num_steps / num_trials)
    mean = sum(shares) / len(shares)
    assert told.low - 0.02 <= mean <= told.high
    expected = pytest.approx(told.low, abs=0.12)
    assert mean == expected, "most of the truth is the low end, where nothing changes on the way"


def _trained(rule, trial, quality, values, rungs, num_steps, seed):
    for t in rule.rungs_of_trial(rungs, seed, trial):
        waiting = TrialAtRung(trial, t, quality, values, rungs, seed, "maximize")
        said = rule.verdict(waiting)
        values[t][trial] = quality
        if said == "stop":
            return t
    return num_steps


def test_the_play_has_brackets():
    assert len({bracket_of(0, trial, 2, 2) for trial in range(20)}) == 3
