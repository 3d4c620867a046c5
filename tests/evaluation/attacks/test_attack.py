"""Figures of attacks."""

import math

import numpy as np
import pytest

from rse_study.errors import InputError
from rse_study.evaluation.attacks.attack import (
    UNTARGETED,
    Attack,
    AttackOutcome,
    Move,
    Target,
    summarise,
)
from rse_study.evaluation.attacks.attack_recipe import UNKNOWN, LeaveOneOut
from rse_study.evaluation.attacks.engine import attack_all
from tests.evaluation.attacks.bag_of_words import Score
from tests.evaluation.attacks.conftest import Lexicon


def row(index, outcome, num_queries, num_words=4, changed=()):
    return AttackOutcome(index, ("a",), ("b",), outcome, 1, (0.5,), (0.4,), num_queries, num_words, changed)


def test_skipped_inputs_count_as_textattack_counts_them():
    rows = [row(0, "skipped", 1), row(1, "succeeded", 10, 4, (0,)), row(2, "failed", 40, 8, (1, 2))]
    rows.append(row(3, "succeeded", 13, 8, (1, 2, 3, 4)))
    found = summarise(reversed(rows))
    assert (found.num_inputs, found.num_skipped, found.num_succeeded, found.num_failed) == (4, 1, 2, 1)
    assert found.original_accuracy == 3 / 4
    assert found.accuracy_under_attack == 1 / 4
    assert found.success_rate == 2 / 3
    assert found.mean_queries == pytest.approx(21.0)
    assert found.share_of_words_changed == pytest.approx((1 / 4 + 1 / 2) / 2)


def test_nothing_attacked():
    found = summarise([row(0, "skipped", 1)])
    assert found.original_accuracy == found.accuracy_under_attack == 0.0
    assert math.isnan(found.success_rate) and math.isnan(found.mean_queries)
    assert math.isnan(summarise([]).original_accuracy)


VICTIM = {"x": 1.0, "y": 2.0, "z": -3.0}
SYNONYMS = {"x": ("y", "z"), "y": ("x",), "z": ("x",)}


def run(goal, text, gold):
    attack = Attack("toy", goal, Lexicon(SYNONYMS), LeaveOneOut(token=UNKNOWN))
    (row,) = attack_all(attack, Score(VICTIM), [Target(0, text, gold)], max_queries=100, seed=0)
    return row


def test_untargeted_wants_another_class():
    clean = np.array([0.2, 0.5, 0.3])
    assert not UNTARGETED.skips(clean, 1)
    assert UNTARGETED.skips(clean, 0)
    now = np.array([0.1, 0.42, 0.48])
    assert UNTARGETED.score(now, clean, 1) == 1 - 0.42
    assert UNTARGETED.stops(now, clean, 1)


def test_a_victim_must_know_the_class_and_a_score_is_one_number():
    for clean, gold in (([0.5, 0.5], 2), ([1.0], 0), ([0.5, 0.5], -1)):
        with pytest.raises(InputError, match="one probability for each class"):
            UNTARGETED.skips(np.array(clean), gold)
    with pytest.raises(InputError, match="one number"):
        Move(distance="drift").score(np.array([0.1, 0.9]), np.array([0.1, 0.9]), 0.0)


def test_deviation_is_from_gold_drift_from_the_clean_score_and_maximise_goes_on_to_the_end():
    row = run(Move(tau=3.0), ("x", "x"), 2.5)
    assert (row.outcome, row.adversarial) == ("succeeded", ("z", "x"))  # 2 -> -2: 4.5 off; y would be 0.5
    assert run(Move(tau=1.0), ("x", "x"), 3.5).outcome == "skipped"
    assert run(Move(tau=100.0), ("x", "x"), 2.5).outcome == "failed"
    row = run(Move(distance="drift", tau=1.0), ("y", "q"), 100.0)
    assert (row.outcome, row.adversarial) == ("succeeded", ("x", "q"))
    assert (row.original_scores, row.adversarial_scores) == ((2.0,), (1.0,))
    assert run(Move(distance="drift", tau=1.5), ("y", "q"), 100.0).outcome == "failed"
    row = run(Move(distance="drift", tau=None), ("x x", "x"), 3.0)
    assert (row.outcome, row.adversarial, row.changed) == ("succeeded", ("z z", "z"), (0, 1, 2))
    assert run(Move(distance="drift", tau=None), ("q", "q"), 3.0).outcome == "failed"
    # From gold = 5 the clean score 4 is 1 off; both ways are open, and down is further.
    assert run(Move(tau=None), ("y", "y"), 5.0).adversarial == ("x", "x")
