"""NLI, fine-tuned on files in the published layouts."""

from dataclasses import replace

import numpy as np
import pytest

from rse_study.errors import InputError, MissingFile
from tests.downstream.fine_tuning import ONE_EPOCH, read_task, score_of, scored_of, settings_of
from tests.downstream.toy_tasks import write_anli, write_fever, write_nli, write_rounds, write_snli
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
