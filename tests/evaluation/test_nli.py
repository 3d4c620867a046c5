import numpy as np
import pytest

from rse_study.data.labelled import Labelled
from rse_study.data.tasks import NLI_CLASSES
from rse_study.errors import InputError
from rse_study.evaluation.nli import evaluate_nli
from rse_study.spec import fingerprint_of
from tests.cases import cases
from tests.evaluation.contract import value_of


def _task(name, labels, split="dev", num_unlabelled=0):
    texts = [(f"{name} {i}", "h") for i in range(len(labels))]
    return Labelled(name, split, texts, np.array(labels), NLI_CLASSES, num_unlabelled)


def _first_letters(texts):
    """Entailment where the premise's number is even, else contradiction."""
    says = np.array([[0.6, 0.1, 0.3], [0.2, 0.1, 0.7]])
    return says[[int(first.split()[-1]) % 2 for first, _ in texts]]


def test_accuracy_of_each_task_and_what_it_was_measured_on():
    tasks = [_task("SNLI", [0, 2, 1, 2], num_unlabelled=3), _task("MNLI", [0, 0], "dev_matched")]
    snli, mnli = evaluate_nli(_first_letters, tasks, seed=4)
    assert (snli.task, snli.split, snli.metric, snli.value) == ("SNLI", "dev", "accuracy", 75.0)
    assert (snli.num_examples, snli.num_unlabelled, snli.seed) == (4, 3, 4)
    assert snli.fingerprint == tasks[0].fingerprint
    assert (mnli.split, mnli.value, mnli.degenerate) == ("dev_matched", 50.0, False)


def test_three_rounds_have_two_averages():
    rounds = [_task("ANLI-R1", [0, 2]), _task("ANLI-R2", [0, 0]), _task("ANLI-R3", [1] * 8)]
    others = [_task("ANLI-R1", [0, 2], "test"), _task("SNLI", [0, 2])]
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
    (row,) = evaluate_nli(always, [_task("SNLI", [1, 1, 0])], seed=0)
    assert (row.value, row.degenerate) == (pytest.approx(200 / 3), True)


@cases("answers", [np.ones((3, 2)), np.ones((2, 3)), np.full((3, 3), np.nan)])
def test_other_classes_and_nan_are_refused(answers):
    with pytest.raises(InputError, match=r"SNLI dev: shape .* 3 texts of 3 classes need as many rows"):
        evaluate_nli(lambda texts: answers, [_task("SNLI", [1, 1, 0])], seed=0)
