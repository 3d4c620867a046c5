"""What holds of a fine-tuned evaluation, whichever its task: real fine-tuning of a very small encoder."""

import json
import math
import pickle
from dataclasses import replace

import numpy as np
import pytest

from rse_study.data.labelled import Labelled, StsPairs
from rse_study.data.labelled_sets import Questions
from rse_study.downstream import read_evaluation
from rse_study.downstream.fine_tuned_tasks import augmented, drawn
from rse_study.errors import InputError
from tests.downstream.fine_tuning import ONE_EPOCH, read_task, scored_of, settings_of, steps_of
from tests.downstream.toy_tasks import write_mrpc, write_nli, write_rounds, write_snli
from tests.training.classifier.sorted_words import LEARNS

pytestmark = pytest.mark.usefixtures("no_hub")


def test_one_classifier_serves_tasks_with_the_same_training(tmp_path, weights):
    write_rounds(tmp_path, ["dev"])
    for split in ("dev", "test"):
        write_nli(tmp_path, f"snli_subset/snli_1.0_{split}.subset", 30, seed=len(split))
    write_nli(tmp_path, "mnli/multinli_1.0_dev_matched", 4, seed=77)
    anli, mnli = (read_task(task, tmp_path, settings_of(ONE_EPOCH)) for task in ("ANLI", "MNLI"))
    assert anli.training.fingerprint == mnli.training.fingerprint
    own = replace(weights, made=tmp_path / "own")
    one, steps = steps_of(anli, own)
    assert steps
    assert one.num_removed == 0  # else the two would be trained on different texts
    assert steps_of(mnli, own) == (one, [])


def test_words_with_synonyms_are_scored_by_the_same_classifier(tmp_path, weights, data_dir):
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    write_mrpc(tmp_path, "train", 40, seed=0)
    write_mrpc(tmp_path, "validation", 12, seed=1)
    bare, changed = (
        read_evaluation(f"GLUE-MRPC/{preset}", tmp_path, settings_of(ONE_EPOCH))
        for preset in ("fine_tuned", "synonyms")
    )
    own = replace(weights, made=tmp_path / "own")
    one, steps = steps_of(bare, own)
    assert steps
    assert steps_of(changed, own) == (one, [])
    ((plain,), (other,)) = (asked.scored for asked in (bare, changed))
    assert plain.labels.tolist() == other.labels.tolist()
    assert all(before != after for before, after in zip(plain.texts, other.texts, strict=True))
    assert bare.fingerprint != changed.fingerprint
    rows = scored_of(changed, own)
    assert list(rows) == ["f1", "accuracy"]
    assert {row.evaluation for row in rows.values()} == {changed.name} == {"GLUE-MRPC/synonyms"}
    assert {measure.name for measure in changed.measures}.isdisjoint(
        measure.name for measure in bare.measures
    )
    answers = one.load().predicting(other.classes)(other.texts).argmax(axis=1)
    assert rows["accuracy"].value == pytest.approx(100 * np.mean(answers == other.labels))


def test_a_copy_with_synonyms_of_each_training_text_trains_and_dev_texts_stay(
    tmp_path, weights, data_dir, monkeypatch
):
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "cache"))
    write_mrpc(tmp_path, "train", 40, seed=0)
    write_mrpc(tmp_path, "validation", 12, seed=1)
    augments = replace(settings_of(ONE_EPOCH), augments=True)
    with pytest.raises(InputError, match="data fetch wordnet"):
        read_evaluation("GLUE-MRPC/fine_tuned", tmp_path, augments)
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    plain, asked = (
        read_evaluation("GLUE-MRPC/fine_tuned", tmp_path, one) for one in (settings_of(ONE_EPOCH), augments)
    )
    assert plain.fingerprint == asked.fingerprint  # whether any classifier is augmented moves no other one
    own = replace(weights, made=tmp_path / "own")
    moved = asked.relocated(str)
    assert moved.settings.words != asked.settings.words
    before, after, elsewhere = (
        json.loads((one.classifier(each).folder / "meta.json").read_text())
        for one, each in (
            (asked, own),
            (asked, replace(own, tuning={"augmented": 0.5})),
            (moved, replace(own, made=tmp_path / "elsewhere", tuning={"augmented": 0.5})),
        )
    )
    assert after["num_dev"] == before["num_dev"] > 0
    assert after["num_training"] == 2 * before["num_training"]
    assert after["history"] == elsewhere["history"] != before["history"]


def test_labels_and_contexts_of_augmented_texts_stay(data_dir):
    texts = [("a big dog", "the small cat"), ("the old house", "a quick answer")]
    labelled = Labelled("pairs", "train", texts, np.array([0, 1]), ("no", "yes"))
    graded = StsPairs("graded", "train", *map(list, zip(*texts, strict=True)), np.array([1.0, 4.0]))
    asked = Questions("asked", "train", texts, [("small",), ("quick",)], np.array([4, 2]))
    for given in (labelled, graded, asked):
        found = augmented(given, share=1.0, seed=0, data_dir=data_dir)
        assert [*found.texts[:2]] == texts
        assert all(old[0] != new[0] for old, new in zip(texts, found.texts[2:], strict=True))
        stays = [old[1] == new[1] for old, new in zip(texts, found.texts[2:], strict=True)]
        assert stays == [given is asked] * 2
        assert augmented(given, share=1.0, seed=0, data_dir=data_dir).fingerprint == found.fingerprint
        assert augmented(given, share=0.0, seed=0, data_dir=data_dir) is given
        for one in (found.take(np.array([0, 1])), found.take(np.array([2, 3]))):
            targets = (getattr(one, name, None) for name in ("labels", "gold", "starts"))
            same = (getattr(given, name, None) for name in ("labels", "gold", "starts"))
            assert all(np.array_equal(a, b) for a, b in zip(targets, same, strict=True))


def test_scored_texts_are_left_out_of_training(tmp_path, weights):
    write_snli(tmp_path)
    write_nli(tmp_path, "snli/snli_1.0_test", 9, seed=0)  # the first nine of train
    made = read_task("SNLI", tmp_path, settings_of(ONE_EPOCH)).classifier(weights)
    assert made.num_removed >= 9
    meta = json.loads((made.folder / "meta.json").read_text())
    assert meta["num_training"] + meta["num_dev"] == 90 - made.num_removed


def test_asked_again_nothing_trains_and_elsewhere_the_same_comes_out(tmp_path, weights):
    write_snli(tmp_path)
    asked = read_task("SNLI", tmp_path)
    rows = scored_of(asked, weights)
    assert steps_of(asked, weights)[1] == []
    assert scored_of(pickle.loads(pickle.dumps(asked)), weights) == rows
    elsewhere = replace(weights, made=tmp_path / "elsewhere")
    assert steps_of(asked, elsewhere)[1]
    assert scored_of(asked, elsewhere) == rows


def test_other_settings_are_other_figures(tmp_path):
    write_snli(tmp_path)
    few = read_task("SNLI", tmp_path, settings_of(num_training=40))
    assert len(few.training) == 40
    assert set(few.training.texts) <= set(read_task("SNLI", tmp_path).training.texts)
    settings = [
        settings_of(),
        settings_of(num_training=40, seed=1),
        settings_of(seed=1),
        settings_of(ONE_EPOCH),
    ]
    others = [few, *(read_task("SNLI", tmp_path, each) for each in settings)]
    assert len({one.fingerprint for one in others}) == 5
    assert drawn(5, 0, 0).tolist() == drawn(5, 5, 0).tolist() == drawn(5, 9, 0).tolist() == [0, 1, 2, 3, 4]


def test_where_fine_tuning_diverges_its_figures_are_nan_and_degenerate(tmp_path, weights):
    """It would diverge again: a result, not an error that a study meets at every run."""
    write_nli(tmp_path, "snli/snli_1.0_train", 24, 0)
    write_nli(tmp_path, "snli/snli_1.0_test", 12, 1)
    asked = read_task("SNLI", tmp_path, settings_of(LEARNS.model_copy(update={"lr": 1e30})))
    rows = scored_of(asked, weights).values()
    assert {row.metric for row in rows} == {measure.metric for measure in asked.measures}
    assert all(math.isnan(row.value) and row.degenerate for row in rows)
    assert {row.fingerprint for row in rows} == {asked.fingerprint}
