"""GLUE and reviews, fine-tuned on files in the published layouts."""

import pytest

from rse_study.data import GLUE
from rse_study.data.labelled_sets import REVIEWS
from tests.downstream.fine_tuning import ONE_EPOCH, read_task, scored_of, settings_of, steps_of
from tests.downstream.toy_tasks import write_glue, write_mrpc, write_reviews, write_stsb

pytestmark = pytest.mark.usefixtures("no_hub")


def test_glue_metrics_of_a_task(tmp_path, weights):
    write_mrpc(tmp_path, "train", 80, seed=0)
    write_mrpc(tmp_path, "validation", 20, seed=1)
    asked = read_task("GLUE-MRPC", tmp_path)
    rows = scored_of(asked, weights)
    assert list(rows) == ["f1", "accuracy"] == list(asked.labels)
    assert {row.evaluation for row in rows.values()} == {"GLUE-MRPC/fine_tuned"} == {asked.name}
    assert {(row.split, row.num_examples) for row in rows.values()} == {("validation", 20)}
    assert rows["accuracy"].value > 90
    assert rows["f1"].value > 90
    assert not rows["f1"].degenerate


def test_stsb_is_a_regression(tmp_path, weights):
    write_stsb(tmp_path, "train", 120, seed=0)
    write_stsb(tmp_path, "validation", 30, seed=1)
    asked = read_task("GLUE-STS-B", tmp_path, settings_of(num_training=100))
    assert len(asked.training) == 100
    rows = scored_of(asked, weights)
    assert list(rows) == ["pearson", "spearman"]
    assert rows["pearson"].value > 60
    assert rows["spearman"].value > 60
    assert asked.classifier(weights).load().classes == ()
    assert steps_of(asked, weights)[1] == []


def test_both_validation_splits_of_mnli_are_scored(tmp_path, weights):
    given = (("red", "cat", 1), ("red cat", "dog", 0))
    rows = [{"premise": first, "hypothesis": second, "label": label} for first, second, label in given]
    longer = [row | {"premise": row["premise"] + " blue" * i} for row in rows for i in range(9)]
    splits = dict(zip(GLUE.get("MNLI").splits, (longer, rows, rows * 2), strict=True))
    for split, given in splits.items():
        write_glue(tmp_path, "mnli", f"data/{split}-00000-of-00001", given)
    asked = read_task("GLUE-MNLI", tmp_path, settings_of(ONE_EPOCH))
    found = scored_of(asked, weights)
    matched = [f"accuracy validation_{which}" for which in ("matched", "mismatched")]
    assert list(found) == matched == list(asked.labels)
    assert [row.num_examples for row in found.values()] == [2, 4]


@pytest.mark.parametrize("task", REVIEWS)
def test_reviews_are_learnt_and_scored_on_test(task, tmp_path, weights):
    write_reviews(tmp_path, task, "test", 30, seed=1)
    write_reviews(tmp_path, task, "train", 80, seed=0)
    asked = read_task(task, tmp_path)
    assert (asked.training.name, len(asked.training), asked.lacking) == (task, 80, ())
    (row,) = scored_of(asked, weights).values()
    assert (row.metric, row.split, row.num_examples) == (f"{task}/fine_tuned/accuracy", "test", 30)
    assert row.value > 90
    assert [measure.metric for measure in asked.measures] == [row.metric]
