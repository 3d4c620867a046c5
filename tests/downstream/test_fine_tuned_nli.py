"""NLI, fine-tuned on files in the published layouts."""

import os
import pickle
import signal
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data import GLUE
from rse_study.data.labelled_sets import REVIEWS
from rse_study.errors import InputError, MissingFile
from tests.downstream.fine_tuning import ONE_EPOCH, read_task, score_of, scored_of, settings_of, steps_of
from tests.downstream.toy_tasks import (
    write_anli,
    write_fever,
    write_glue,
    write_mrpc,
    write_nli,
    write_reviews,
    write_rounds,
    write_snli,
    write_squad,
    write_stsb,
)
from tests.training.classifier.sorted_words import LEARNS

pytestmark = pytest.mark.usefixtures("no_hub")


def test_snli_is_learnt_and_scored_on_test(tmp_path, weights):
    write_snli(tmp_path)
    asked = read_task("SNLI", tmp_path)
    found = scored_of(asked, weights)
    (row,) = found.values()
    assert (row.evaluation, row.aggregation) == (asked.name, "accuracy") == ("SNLI/fine_tuned", "accuracy")
    assert (row.split, row.num_examples, row.num_skipped, row.seed) == ("test", 30, 2, 0)
    assert row.value > 90
    assert not row.degenerate
    assert row.fingerprint == asked.fingerprint
    assert [measure.metric for measure in asked.measures] == [row.metric]
    assert asked.num_sentences == 3 * LEARNS.epochs * 90 + 30
    assert asked.lacking == ()


def test_mnli_has_two_splits_and_a_missing_one_is_left_out(tmp_path, weights):
    write_nli(tmp_path, "mnli/multinli_1.0_train", 60, seed=0)
    write_nli(tmp_path, "mnli/multinli_1.0_dev_matched", 12, seed=1)
    alone = read_task("MNLI", tmp_path, settings_of(ONE_EPOCH))
    assert alone.lacking == ("nli/mnli/multinli_1.0_dev_mismatched.jsonl",)
    assert list(scored_of(alone, weights)) == ["accuracy dev_matched"] == list(alone.labels)
    write_nli(tmp_path, "mnli/multinli_1.0_dev_mismatched", 15, seed=2)
    both = read_task("MNLI", tmp_path, settings_of(ONE_EPOCH))
    rows = scored_of(both, weights)
    assert list(rows) == ["accuracy dev_matched", "accuracy dev_mismatched"] == list(both.labels)
    assert [row.num_examples for row in rows.values()] == [12, 15]
    assert both.fingerprint != alone.fingerprint


def test_anli_has_rounds_and_both_averages(tmp_path, weights):
    """Trained on everything V-advCSE names that is here."""
    write_rounds(tmp_path)
    write_snli(tmp_path)
    for number in (1, 3):
        write_anli(tmp_path, number, "train", 18, seed=number)
    asked = read_task("ANLI", tmp_path, settings_of(ONE_EPOCH))
    assert asked.training.name == "SNLI+ANLI-R1+ANLI-R3"
    assert len(asked.training) == 90 + 18 + 18
    fever = "nli/fever/train_fitems.jsonl"
    assert asked.lacking == ("nli/mnli/multinli_1.0_train.jsonl", "nli/anli/R2/train.jsonl", fever)
    rows = scored_of(asked, weights)
    for split in ("test", "dev"):
        values = [rows[f"R{number} {split}"].value for number in (1, 2, 3)]
        assert rows[f"mean {split}"].value == pytest.approx(np.mean(values))
        assert rows[f"all {split}"].value == pytest.approx(np.average(values, weights=[6, 12, 18]))
        assert rows[f"all {split}"].num_examples == 36
        assert {row.split for label, row in rows.items() if label.endswith(split)} == {split}
    assert len(rows) == 10
    assert {row.task for row in rows.values()} == {"ANLI"}
    assert {row.evaluation for row in rows.values()} == {"ANLI/fine_tuned"}
    assert len({row.metric for row in rows.values()}) == 10
    measured = [measure.metric for measure in asked.measures]
    assert measured == [f"ANLI/fine_tuned/mean {split}" for split in ("test", "dev")]


def test_without_training_sets_the_few_pairs_train_a_weak_one(tmp_path, weights):
    write_rounds(tmp_path, ["dev"])
    for split in ("dev", "test"):  # nothing to be learnt in them
        write_nli(tmp_path, f"snli_subset/snli_1.0_{split}.subset", 60, seed=5, labels=("neutral",) * 3)
    write_nli(tmp_path, "snli_subset/snli_1.0_test.subset", 60, seed=6, labels=("entailment",) * 3)
    asked = read_task("ANLI", tmp_path, settings_of(ONE_EPOCH.model_copy(update={"lr": 1e-6})))
    assert (asked.training.name, asked.training.split) == ("SNLI-subset", "dev+test")
    rows = scored_of(asked, weights)
    assert asked.classifier(weights).is_weak
    assert set(rows) == {"R1 dev", "R2 dev", "R3 dev", "all dev", "mean dev"}
    assert all(row.degenerate for row in rows.values())
    tuned = read_task("ANLI", tmp_path)
    score, made = score_of(tuned, weights), asked.classifier(weights)
    assert not tuned.is_worthless(
        score.model_copy(update={"degenerate": False}), replace(made, is_weak=False)
    )


def test_missing_nli_is_refused_with_its_layout(tmp_path):
    for task, said in (("SNLI", "nli/snli/snli_1.0_test.jsonl"), ("ANLI", "nli/anli/R1/test.jsonl, .*R3")):
        with pytest.raises(MissingFile, match=f"no split of {task} to score: the layout is {said}"):
            read_task(task, tmp_path)
    write_rounds(tmp_path)
    said = r"no training texts for ANLI: .*multinli_1.0_train.*R3/train.*RSE_STUDY_DATA"
    with pytest.raises(MissingFile, match=said):
        read_task("ANLI", tmp_path)
    # A malformed file is not taken for a missing one.
    write_snli(tmp_path)
    (tmp_path / "nli/snli/snli_1.0_train.jsonl").write_text("{\n")
    with pytest.raises(InputError, match=r"train.jsonl:1: is no JSON"):
        read_task("SNLI", tmp_path)


def test_fever_is_learnt_and_trains_for_anli_too(tmp_path, weights):
    write_fever(tmp_path, "train", 90, seed=0)
    write_fever(tmp_path, "dev", 30, seed=1)
    (row,) = scored_of(read_task("FEVER", tmp_path), weights).values()
    assert (row.metric, row.split, row.num_examples) == ("FEVER/fine_tuned/accuracy", "dev", 30)
    assert row.value > 90
    write_rounds(tmp_path, ["dev"])
    write_anli(tmp_path, 1, "train", 18, seed=1)
    asked = read_task("ANLI", tmp_path)
    assert (asked.training.name, len(asked.training)) == ("ANLI-R1+FEVER", 18 + 90)


# GLUE and reviews, fine-tuned on files in the published layouts.


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


# SQuAD: spans of contexts, fine-tuned on files in the published layout.


SPANS = LEARNS.model_copy(update={"lr": 1e-2, "epochs": 8, "max_length": 12})


def test_squad_is_learnt_from_windows_and_scored_on_dev(tmp_path, weights):
    """Contexts have up to ten words, windows hold eight tokens of them or fewer."""
    write_squad(tmp_path, "train", 160, seed=0, most=9)
    write_squad(tmp_path, "dev", 40, seed=1, most=9)
    asked = read_task("SQuAD", tmp_path, settings_of(SPANS))
    found = scored_of(asked, weights)
    assert list(found) == list(asked.labels) == ["f1", "exact_match"]
    for row in found.values():
        assert (row.evaluation, row.split, row.num_examples) == ("SQuAD/fine_tuned", "dev", 40)
        assert row.value > 90
        assert not row.degenerate
    assert [measure.metric for measure in asked.measures] == [row.metric for row in found.values()]
    made, steps = steps_of(pickle.loads(pickle.dumps(asked)), weights)
    assert (steps, made.is_weak) == ([], False)  # it is kept, and read back as what it is
    few = read_task("SQuAD", tmp_path, settings_of(SPANS, num_training=60))
    assert len(few.training) == 60
    assert few.fingerprint != asked.fingerprint


def test_a_span_head_resumes_to_the_same_bits_in_bf16(tmp_path, weights):
    write_squad(tmp_path, "train", 24, seed=0)
    write_squad(tmp_path, "dev", 8, seed=1)
    spec = SPANS.model_copy(update={"epochs": 2, "precision": "bf16"})
    asked = read_task("SQuAD", tmp_path, settings_of(spec))

    def stop(done, total):
        if done == 4:
            os.kill(os.getpid(), signal.SIGINT)

    halves, whole = (replace(weights, made=tmp_path / name) for name in ("halves", "whole"))
    with pytest.raises(KeyboardInterrupt):
        asked.classifier(halves, stop)
    resumed, steps = steps_of(asked, halves)
    assert steps[0] == 5
    assert resumed.weights == steps_of(asked, whole)[0].weights
