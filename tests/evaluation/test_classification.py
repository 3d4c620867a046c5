"""Scores of classifiers, by hand."""

import math

import numpy as np
import pytest

from rse_study.data import GLUE, NLI_CLASSES
from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import Questions
from rse_study.errors import InputError
from rse_study.evaluation.classification import (
    GLUE_METRICS,
    evaluate_glue,
    evaluate_glue_pairs,
    evaluate_nli,
    evaluate_squad,
    exact_match,
    f1,
)
from rse_study.spec import fingerprint_of
from tests.cases import cases
from tests.evaluation.contract import value_of


def _premises(name, labels, split="dev", num_unlabelled=0):
    texts = [(f"{name} {i}", "h") for i in range(len(labels))]
    return Labelled(name, split, texts, np.array(labels), NLI_CLASSES, num_unlabelled)


def _first_letters(texts):
    """Entailment where the premise's number is even, else contradiction."""
    says = np.array([[0.6, 0.1, 0.3], [0.2, 0.1, 0.7]])
    return says[[int(first.split()[-1]) % 2 for first, _ in texts]]


def test_accuracy_of_each_task_and_what_it_was_measured_on():
    tasks = [_premises("SNLI", [0, 2, 1, 2], num_unlabelled=3), _premises("MNLI", [0, 0], "dev_matched")]
    snli, mnli = evaluate_nli(_first_letters, tasks, seed=4)
    assert (snli.task, snli.split, snli.aggregation, snli.value) == ("SNLI", "dev", "accuracy", 75.0)
    assert (snli.num_examples, snli.num_skipped, snli.seed) == (4, 3, 4)
    assert snli.fingerprint == tasks[0].fingerprint
    assert (mnli.split, mnli.value, mnli.degenerate) == ("dev_matched", 50.0, False)


def test_three_rounds_have_two_averages():
    rounds = [_premises("ANLI-R1", [0, 2]), _premises("ANLI-R2", [0, 0]), _premises("ANLI-R3", [1] * 8)]
    others = [_premises("ANLI-R1", [0, 2], "test"), _premises("SNLI", [0, 2])]
    rows = evaluate_nli(_first_letters, [*rounds, *others], seed=0)
    found = {(row.task, row.split): row for row in rows}
    assert [found[f"ANLI-R{i}", "dev"].value for i in (1, 2, 3)] == [100.0, 50.0, 0.0]
    assert found["ANLI-all", "dev"].value == pytest.approx(25.0)  # 3 of 12
    assert found["ANLI-mean", "dev"].value == pytest.approx(50.0)
    assert found["ANLI-all", "dev"].num_examples == 12
    assert found["ANLI-all", "dev"].fingerprint == fingerprint_of([task.fingerprint for task in rounds])
    assert [value_of(row.items) for row in rows] == pytest.approx([row.value for row in rows])
    assert len(rows) == 7  # one round of the test split has no average


def test_one_answer_to_everything_is_degenerate():
    always = lambda texts: np.tile([0.2, 0.5, 0.3], (len(texts), 1))  # noqa: E731
    (row,) = evaluate_nli(always, [_premises("SNLI", [1, 1, 0])], seed=0)
    assert (row.value, row.degenerate) == (pytest.approx(200 / 3), True)


@cases("answers", [np.ones((3, 2)), np.ones((2, 3)), np.full((3, 3), np.nan)])
def test_other_classes_and_nan_are_refused(answers):
    with pytest.raises(InputError, match=r"SNLI dev: shape .* 3 texts of 3 classes need as many rows"):
        evaluate_nli(lambda texts: answers, [_premises("SNLI", [1, 1, 0])], seed=0)


LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1])
PREDICTED = np.array([1, 0, 0, 1, 1, 0, 1, 0, 1, 0])


def _ten_texts(name, classes=("no", "yes")):
    texts = [(f"text {i}",) for i in range(len(LABELS))]
    return Labelled(name, "validation", texts, LABELS, classes)


def _says(predicted):
    return lambda texts: np.eye(2)[predicted] * 0.8 + 0.1


def _values(name, predicted=PREDICTED):
    rows = evaluate_glue(_says(predicted), _ten_texts(name), seed=0)
    return {row.aggregation: row.value for row in rows}


def test_each_task_has_its_metrics():
    assert {name.removeprefix("GLUE-") for name in GLUE_METRICS} == set(GLUE)
    # by hand: 4 true and 1 false positives, 2 false and 3 true negatives
    precision, recall = 4 / 5, 4 / 6
    f1 = 200 * precision * recall / (precision + recall)
    matthews = 100 * (4 * 3 - 1 * 2) / math.sqrt((4 + 1) * (4 + 2) * (3 + 1) * (3 + 2))
    assert _values("GLUE-CoLA") == pytest.approx({"matthews": matthews})
    assert _values("GLUE-QQP") == pytest.approx({"f1": f1, "accuracy": 70.0})
    assert list(_values("GLUE-MRPC")) == ["f1", "accuracy"]
    for name in ("SST-2", "MNLI", "QNLI", "RTE", "WNLI"):
        assert _values(f"GLUE-{name}") == {"accuracy": 70.0}


def _pairs():
    gold = np.array([0.0, 5.0, 2.5, 4.0])
    return StsPairs("GLUE-STS-B", "validation", list("abcd"), list("efgh"), gold)


def test_correlations_of_the_regression_and_no_other_ten_texts():
    asked = []

    def scores(texts):
        asked.extend(texts)
        return np.array([0.1, 9.0, 3.0, 2.0])

    rows = {row.aggregation: row for row in evaluate_glue_pairs(scores, _pairs(), seed=0)}
    assert asked == [("a", "e"), ("b", "f"), ("c", "g"), ("d", "h")]
    assert rows["spearman"].value == pytest.approx(80.0)  # 1 - 6 * 2 / (4 * 15): two neighbours swapped
    x, y = np.array([0.1, 9.0, 3.0, 2.0]), _pairs().gold
    x, y = x - x.mean(), y - y.mean()
    expected = (x * y).sum() / math.sqrt((x**2).sum() * (y**2).sum())
    assert rows["pearson"].value == pytest.approx(100 * expected)
    assert value_of(rows["spearman"].items) == pytest.approx(80.0)
    flat = evaluate_glue_pairs(lambda texts: np.ones(4), _pairs(), seed=0)
    assert [(row.value, row.degenerate) for row in flat] == [(0.0, True)] * 2
    with pytest.raises(InputError, match=r"GLUE-STS-B: shape \(4, 1\): 4 pairs need as many finite numbers"):
        evaluate_glue_pairs(lambda texts: np.ones((4, 1)), _pairs(), seed=0)
    with pytest.raises(InputError, match=r"no such GLUE task 'GLUE-SST2'. Did you mean 'GLUE-SST-2'"):
        evaluate_glue(_says(PREDICTED), _ten_texts("GLUE-SST2"), seed=0)


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


def test_scores_are_means_of_all_questions():
    texts = [("Who?", "red cat sat"), ("What?", "a dog")]
    task = Questions("SQuAD", "dev", texts, [("red cat",), ("dog",)], np.array([0, 2]))
    found = evaluate_squad(lambda asked: ["red", "dog"], task, seed=3)
    assert [(row.aggregation, row.value) for row in found] == [
        ("f1", pytest.approx(100 * (2 / 3 + 1) / 2)),
        ("exact_match", 50.0),
    ]
    assert {(row.task, row.split, row.num_examples, row.seed, row.degenerate) for row in found} == {
        ("SQuAD", "dev", 2, 3, False)
    }
    assert all(row.degenerate for row in evaluate_squad(lambda asked: ["dog", "dog"], task, seed=0))
