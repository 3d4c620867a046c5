"""GLUE and reviews, fine-tuned on files in the published layouts."""

import json
from dataclasses import replace

import pytest

from rse_study.data.labelled_sets import REVIEWS
from rse_study.data.tasks import GLUE
from rse_study.errors import InputError, MissingFile
from tests.downstream.fine_tuning import ONE_EPOCH, read_task, score_of, scored_of, settings_of, steps_of
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


def test_a_glue_classifier_that_says_one_thing_is_degenerate_and_a_poor_one_is_not(tmp_path, weights):
    write_mrpc(tmp_path, "train", 80, seed=0)
    write_mrpc(tmp_path, "validation", 20, seed=1)
    asked = read_task("GLUE-MRPC", tmp_path, settings_of(ONE_EPOCH.model_copy(update={"lr": 1e-6})))
    rows = scored_of(asked, weights)
    predicted = asked.classifier(weights).load().predict(asked.held_out[0].texts).argmax(1)
    assert {row.degenerate for row in rows.values()} == {len(set(predicted.tolist())) == 1}
    score, made = score_of(asked, weights), asked.classifier(weights)
    assert not asked.is_worthless(score.model_copy(update={"degenerate": False}), replace(made, is_weak=True))


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


def test_pairs_of_a_regression_that_are_scored_are_left_out(tmp_path, weights):
    write_stsb(tmp_path, "train", 40, seed=0)
    train = tmp_path / "nyu-mll/glue/stsb/train.jsonl"
    lines = train.read_text().splitlines(keepends=True)
    train.with_name("validation.jsonl").write_text("".join(lines[:10]).replace("red", "Red!"))
    made = read_task("GLUE-STS-B", tmp_path, settings_of(ONE_EPOCH)).classifier(weights)
    seen = {_pair(line) for line in lines[:10]}
    assert made.num_removed == sum(_pair(line) in seen for line in lines) >= 10
    meta = json.loads((made.folder / "meta.json").read_text())
    assert meta["num_training"] + meta["num_dev"] == 40 - made.num_removed


def _pair(line):
    row = json.loads(line)
    return row["sentence1"], row["sentence2"]


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


def test_glue_of_another_place_and_none_at_all(tmp_path):
    write_mrpc(tmp_path, "train", 8, seed=0)
    with pytest.raises(MissingFile, match=r"rte: no such folder: the layout is <task>/\{train,validation\}"):
        read_task("GLUE-RTE", tmp_path)
    with pytest.raises(InputError, match=r"validation"):
        read_task("GLUE-MRPC", tmp_path)
    with pytest.raises(InputError, match=r"dataset elsewhere: cannot be loaded"):
        read_task("GLUE-MRPC", tmp_path, settings_of(glue="elsewhere"))


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
