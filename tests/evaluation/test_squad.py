import numpy as np
import pytest

from rse_study.data.questions import Questions
from rse_study.evaluation.squad import evaluate_squad, exact_match, f1, normalised
from tests.cases import cases

SCORED = [  # by hand, after the official script's rules
    ("the Cat!", ["cat"], 1.0, 1.0),
    ("a cat", ["An  CAT."], 1.0, 1.0),
    ("theatre", ["atre"], 0.0, 0.0),  # articles are whole words
    ("U.S.", ["US"], 1.0, 1.0),
    ("red cat", ["cat", "red cat sat"], 0.8, 0.0),
    ("red red cat", ["red cat"], 0.8, 0.0),  # a repeated word counts once
    ("dog", ["red cat", "the dog"], 1.0, 1.0),
    ("the", ["cat"], 0.0, 0.0),
    ("the", ["a"], 0.0, 1.0),  # nothing is left of either
    ("", ["cat"], 0.0, 0.0),
]


@cases(("answer", "accepted", "overlap", "exact"), SCORED)
def test_f1_and_exact_match_follow_the_official_rules(answer, accepted, overlap, exact):
    assert f1(answer, accepted) == pytest.approx(overlap)
    assert exact_match(answer, accepted) == exact


def test_curly_quotes_stay_as_in_the_official_script():
    assert normalised("“The” cat’s") == "“ ” cat’s"


def test_scores_are_means_of_all_questions():
    texts = [("Who?", "red cat sat"), ("What?", "a dog")]
    task = Questions("SQuAD", "dev", texts, [("red cat",), ("dog",)], np.array([0, 2]))
    found = evaluate_squad(lambda asked: ["red", "dog"], task, seed=3)
    assert [(row.metric, row.value) for row in found] == [
        ("f1", pytest.approx(100 * (2 / 3 + 1) / 2)),
        ("exact_match", 50.0),
    ]
    assert {(row.task, row.split, row.num_examples, row.seed, row.degenerate) for row in found} == {
        ("SQuAD", "dev", 2, 3, False)
    }
    assert all(row.degenerate for row in evaluate_squad(lambda asked: ["dog", "dog"], task, seed=0))
