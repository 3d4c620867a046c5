"""Attacked inputs that are parts of other sets, and the training texts of victims."""

import numpy as np
import pytest

from rse_study.data.attack_sets import OF_TRANSFER, read_attack_set, training_for
from rse_study.data.labelled_sets import read_labelled
from rse_study.errors import InputError, MissingFile
from tests.cases import cases
from tests.downstream.toy_tasks import write_glue

TRAINED_ON = {
    "mr": ("MR", 10662),
    "imdb": ("review-polarity", 2000),
    "yelp": ("uci-yelp", 1000),
    "mnli_matched": ("SNLI-subset", 2527),
}


@cases("name", OF_TRANSFER)
def test_inputs_nobody_published_are_the_first_of_a_test_split(data_dir, name):
    found, split = read_attack_set(name, data_dir), read_labelled(OF_TRANSFER[name], "test", data_dir)
    assert (found.name, found.split, len(found)) == (f"attack-{name}", "test", 1000)
    assert found.texts == split.texts[:1000]
    assert found.labels.tolist() == split.labels[:1000].tolist()


@pytest.mark.usefixtures("no_hub")
def test_cola_is_attacked_on_glues_validation_split_and_its_victims_see_train(tmp_path):
    rows = {"train": ("red", 0), "validation": ("blue", 1)}
    for split, (sentence, label) in rows.items():
        write_glue(tmp_path, "cola", split, [{"sentence": sentence, "label": label}])
    for glue in ("nyu-mll/glue", str(tmp_path / "nyu-mll/glue")):
        found = read_attack_set("cola", tmp_path, glue)
        assert (found.name, found.split, found.texts) == ("attack-cola", "test", [("blue",)])
        assert training_for("cola", tmp_path, glue).texts == [("red",)]


@cases("name", TRAINED_ON)
def test_a_victim_is_trained_on_texts_of_the_same_classes(name, data_dir):
    found = training_for(name, data_dir)
    assert (found.name, len(found)) == TRAINED_ON[name]
    if name != "yelp":
        assert found.classes == read_attack_set(name, data_dir).classes
    assert set(np.unique(found.labels)) == set(range(len(found.classes)))


@cases("name", ["imdb", "yelp"])
def test_reviews_of_the_attacked_sets_train_before_their_stand_ins(tmp_path, data_dir, name):
    (tmp_path / "sentiment").mkdir()
    for below in ("review_polarity_v2", "uci_labelled"):
        (tmp_path / "sentiment" / below).symlink_to(data_dir / "sentiment" / below)
    assert training_for(name, tmp_path).name == TRAINED_ON[name][0]
    path = tmp_path / f"sentiment/{name}/train.jsonl"
    path.parent.mkdir()
    path.write_text('{"label": 0, "text": "bad"}\n{"label": 1, "text": "good"}\n')
    found = training_for(name, tmp_path)
    assert (found.name, found.split, len(found)) == (name.upper(), "train", 2)


def test_where_there_is_nothing_to_train_on_it_is_said(tmp_path):
    with pytest.raises(InputError, match="no training texts"):
        training_for("ag", tmp_path)
    for read in (training_for, read_attack_set):
        with pytest.raises(InputError, match=r"no such attack set .mrr.. Did you mean .mr."):
            read("mrr", tmp_path)
    with pytest.raises(MissingFile):
        training_for("snli", tmp_path)
