"""Figures of attacks."""

import math

import pytest

from rse_study.evaluation.attacks.attack import AttackOutcome, summarise


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
