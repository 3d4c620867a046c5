import numpy as np

from rse_study.evaluation.attacks import victim as module
from rse_study.evaluation.attacks.victim import CountedVictim
from tests.evaluation.attacks.bag_of_words import BagOfWords


def test_queries_are_admitted_up_to_the_budget_of_each_input():
    counted = CountedVictim(BagOfWords({}), batch_size=2, max_queries=5)
    assert [counted.admit(*asked) for asked in ((7, 3), (7, 3), (7, 1), (8, 1))] == [3, 2, 0, 1]
    assert counted.num_queries == {7: 5, 8: 1}


def test_answers_are_remembered_by_text_and_the_oldest_forgotten(monkeypatch):
    monkeypatch.setattr(module, "_MAX_CACHED", 2)
    counted = CountedVictim(BagOfWords({"a": 1.0}), batch_size=3, max_queries=1)
    rows = counted.forward([("a",), ("a", ""), ("b",)])
    assert counted.cached(("a",)) is None
    assert np.array_equal(counted.cached(("b",)), rows[2])
    assert np.array_equal(counted.cached(("a", "")), rows[0])
    assert counted.cached(("a ",)) is None
    assert (counted.num_calls, counted.num_texts) == (1, 3)
