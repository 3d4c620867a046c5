"""Batches, budgets, resuming: what may not depend on how inputs are merged."""

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.evaluation.attacks import AttackedText
from rse_study.evaluation.attacks.attack import AttackOutcome
from rse_study.evaluation.attacks.engine import ASKED_AT_ONCE, CountedVictim, attack_all
from rse_study.results.files.attack_file import parse_outcomes
from tests.cases import cases
from tests.evaluation.attacks.bag_of_words import BagOfWords
from tests.evaluation.attacks.conftest import pwws_with

PLENTY = 10**6


def by_index(outcomes):
    return sorted(outcomes, key=lambda row: row.index)


def test_every_query_is_counted_though_few_texts_are_sent(attack, sentences, victim, lexicon):
    """What is sent: each distinct text once. What is counted: all that was asked, also what was known."""
    outcomes = by_index(attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0))
    num_queries, sent = sum(row.num_queries for row in outcomes), victim.asked
    assert max(sent.values()) == 1
    assert sum(sent.values()) < num_queries
    assert {row.original for row in outcomes} <= set(sent)
    # The first visit asks what the ranking has asked: nothing is sent for it, all is counted.
    for row in outcomes:
        if row.outcome == "failed":
            attacked = AttackedText.of(row.original)
            options = [len(lexicon.get(word, ())) for word in attacked.words]
            num_modifiable = sum(word not in {"the", "a", "of"} for word in attacked.words)
            assert row.num_queries == 1 + num_modifiable + 2 * sum(options)


def test_forward_passes_are_few(attack, sentences, victim):
    many = sentences.take(np.tile(np.arange(len(sentences)), 3))
    unlike = replace(many, texts=[(f"{text} {i}",) for i, (text,) in enumerate(many.texts)])
    rows = attack_all(attack, victim, unlike, max_queries=PLENTY, seed=0)
    num_queries = sum(row.num_queries for row in rows)
    assert num_queries > 2000
    assert len(victim.calls) / num_queries <= 40 / 1000
    assert 64 < max(map(len, victim.calls)) <= ASKED_AT_ONCE


@settings(max_examples=20)
@given(st.sets(st.integers(0, 11)))
def test_what_is_done_is_not_done_again(done_places):
    weights = {"good1": 1.0, "bad1": -1.0, "odd1": 0.2, "[UNK]": 0.1}
    attack = pwws_with({"good1": ("bad1", "odd1"), "bad1": ("good1",), "odd1": ("bad1",)})
    texts = [(f"good1 bad1 odd1 good1 {'good1 ' * (i % 4)}",) for i in range(12)]
    examples = Labelled("toy", "test", texts, np.arange(12) % 2, ("no", "yes"))
    whole = by_index(attack_all(attack, BagOfWords(weights), examples, max_queries=40, seed=0))
    done = {place: whole[place] for place in done_places}
    rest = list(attack_all(attack, BagOfWords(weights), examples, max_queries=40, seed=0, done=done))
    assert not {row.index for row in rest} & set(done)
    assert by_index([*done.values(), *rest]) == whole


def test_the_budget_is_kept_to_the_query(attack, sentences, victim):
    free = by_index(attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0))
    for budget in (1, 2, 5, 17, 60):
        rows = by_index(attack_all(attack, victim, sentences, max_queries=budget, seed=0))
        for row, unbound in zip(rows, free, strict=True):
            assert row.num_queries == min(budget, unbound.num_queries)
            if unbound.num_queries <= budget:
                assert row == unbound
            else:
                assert row.outcome in {"failed", "succeeded"}
        assert Counter(row.num_queries <= budget for row in rows) == {True: len(sentences)}
        assert budget > 2 or all(row.adversarial == row.original for row in rows)  # too small to rank


def test_an_outcome_survives_json(attack, sentences, victim, tmp_path):
    for row in attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0):
        line = json.loads(json.dumps(row.to_json()))
        assert AttackOutcome(**dict(parse_outcomes([line], tmp_path, "")[row.index])) == row


def test_outcomes_come_as_inputs_finish_and_none_without_inputs(attack, victim, sentences):
    nothing = Labelled("toy", "test", [], np.array([], np.int64), ("no", "yes"))
    assert list(attack_all(attack, victim, nothing, max_queries=5, seed=0)) == []
    assert victim.calls == []
    rows = attack_all(attack, victim, sentences, max_queries=PLENTY, seed=0, batch_size=8, num_in_flight=2)
    next(rows)
    assert sum(victim.asked.values()) < len(sentences) * 8


@cases("answer", [np.full((1, 2), np.nan), np.zeros((2, 2)), np.zeros(1), np.zeros((1, 1))])
def test_a_victim_that_answers_nonsense_is_refused(attack, answer):
    examples = Labelled("toy", "test", [("good1",)], np.array([1]), ("no", "yes"))
    with pytest.raises(InputError, match="the victim"):
        list(attack_all(attack, lambda texts: answer, examples, max_queries=5, seed=0))


def test_queries_are_admitted_up_to_the_budget_of_each_input():
    counted = CountedVictim(BagOfWords({}), batch_size=2, max_queries=5)
    assert [counted.admit(*asked) for asked in ((7, 3), (7, 3), (7, 1), (8, 1))] == [3, 2, 0, 1]
    assert counted.num_queries == {7: 5, 8: 1}
