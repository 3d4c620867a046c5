import math

import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.data.pairs import StsPairs
from rse_study.data.tasks import GLUE
from rse_study.errors import InputError
from rse_study.evaluation.glue import GLUE_METRICS, evaluate_glue, evaluate_glue_pairs
from tests.evaluation.contract import value_of

LABELS = np.array([1, 0, 1, 1, 0, 0, 1, 0, 1, 1])
PREDICTED = np.array([1, 0, 0, 1, 1, 0, 1, 0, 1, 0])


def _task(name, classes=("no", "yes")):
    texts = [(f"text {i}",) for i in range(len(LABELS))]
    return Labelled(name, "validation", texts, LABELS, classes)


def _says(predicted):
    return lambda texts: np.eye(2)[predicted] * 0.8 + 0.1


def _values(name, predicted=PREDICTED):
    rows = evaluate_glue(_says(predicted), _task(name), seed=0)
    return {row.metric: row.value for row in rows}


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


def test_silence_scores_nothing():
    zeros = np.zeros(10, int)
    assert _values("GLUE-CoLA", zeros) == {"matthews": 0.0}
    assert _values("GLUE-MRPC", zeros) == {"f1": 0.0, "accuracy": 40.0}
    (row,) = evaluate_glue(_says(zeros), _task("GLUE-RTE"), seed=7)
    assert (row.degenerate, row.seed, row.num_examples) == (True, 7, 10)
    assert value_of(row.items) == row.value


def _pairs():
    gold = np.array([0.0, 5.0, 2.5, 4.0])
    return StsPairs("GLUE-STS-B", "validation", list("abcd"), list("efgh"), gold)


def test_correlations_of_the_regression_and_no_other_task():
    asked = []

    def scores(texts):
        asked.extend(texts)
        return np.array([0.1, 9.0, 3.0, 2.0])

    rows = {row.metric: row for row in evaluate_glue_pairs(scores, _pairs(), seed=0)}
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
        evaluate_glue(_says(PREDICTED), _task("GLUE-SST2"), seed=0)
