"""Attacked inputs that are parts of other sets, and the training texts of victims."""

from collections import Counter

import numpy as np
import pytest

from rse_study.assets.replayed import read_for
from rse_study.data import GLUE, builtin
from rse_study.data.attack_sets import (
    OF_TRANSFER,
    name_of,
    read_attack_set,
    tasks_seen_with,
    training_for,
    unseen,
)
from rse_study.data.labelled import Labelled
from rse_study.data.labelled_sets import TRANSFER_TASKS, read_labelled
from rse_study.errors import InputError, MissingFile
from rse_study.training.trial import Replayed
from tests.cases import cases
from tests.downstream.toy_tasks import write_glue


def num_found(inputs, training):
    """How many inputs are among the training texts."""
    return len(inputs) - len(unseen(inputs, training.texts))


def without(training, inputs):
    """What is not among the inputs, and how many examples are."""
    kept = unseen(training.texts, inputs)
    return training.take(kept), len(training) - len(kept)


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


def drawn(labelled="builtin", data_dir=None, num_inputs=20, num_training=60, seed=0):
    asked = Replayed(
        recipe="pwws", labelled=labelled, num_texts=num_inputs, num_training=num_training, seed=seed
    )
    return read_for(asked, data_dir)


def test_generated_opinions_are_split_without_a_text_in_common(tmp_path):
    few, told = drawn(data_dir=tmp_path), builtin.opinions()
    assert (len(few.inputs), len(few.training)) == (20, 60)
    assert not set(few.inputs.texts) & set(few.training.texts)
    label = dict(zip(told.texts, told.labels.tolist(), strict=True))
    for part in (few.inputs, few.training):
        assert [label[text] for text in part.texts] == part.labels.tolist()
        assert (part.name, part.split, part.classes) == ("builtin-opinions", "train", ("bad", "good"))
        assert len(Counter(part.labels.tolist())) == 2


def test_the_seed_draws_and_the_test_split_has_no_part(tmp_path):
    one, again, other = drawn(data_dir=tmp_path), drawn(data_dir=tmp_path), drawn(data_dir=tmp_path, seed=1)
    assert one.inputs.fingerprint == again.inputs.fingerprint != other.inputs.fingerprint
    assert one.training.fingerprint == again.training.fingerprint != other.training.fingerprint
    whole = drawn(data_dir=tmp_path, num_inputs=300, num_training=500)
    unseen = set(builtin.opinions("test").texts)
    assert not unseen & {*whole.inputs.texts, *whole.training.texts}


def customer_reviews(folder, negative, positive):
    (folder / "transfer" / "CR").mkdir(parents=True)
    for name, lines in (("neg", negative), ("pos", positive)):
        (folder / "transfer" / "CR" / f"custrev.{name}").write_text("\n".join(lines) + "\n")


def test_what_comes_twice_is_not_trained_on_where_it_is_attacked(tmp_path):
    bad = ["Bad thing", "bad, thing!", "worse", *(f"bad {i}" for i in range(10))]
    customer_reviews(tmp_path, bad, [f"good {i}" for i in range(8)] * 2)
    for seed in range(8):
        few = drawn("CR", tmp_path, num_inputs=12, num_training=8, seed=seed)
        assert num_found(few.inputs.texts, few.training) == 0
        assert (few.inputs.name, few.inputs.split) == ("CR", "all")


def test_too_few_texts_and_missing_ones_are_said(tmp_path):
    with pytest.raises(InputError, match=r"train: too few texts: 400 to attack leave 400 others, and 401"):
        drawn(data_dir=tmp_path, num_inputs=400, num_training=401)
    customer_reviews(tmp_path, ["no"], [f"good {i}" for i in range(30)])
    with pytest.raises(InputError, match="none of 3 training texts is 'negative': a probe needs texts of"):
        drawn("CR", tmp_path, num_inputs=2, num_training=3)
    with pytest.raises(MissingFile, match=r"transfer/MR/rt-polarity\.neg"):
        drawn("MR", tmp_path)


def test_sst2_is_made_of_mr_and_tasks_are_called_as_evaluations_are(data_dir):
    """Why a search that selects by MR has seen SST-2's test split, and one that selects by CR has not."""
    test = read_labelled("SST2", "test", data_dir)
    seen = [num_found(test.texts, read_labelled(name, "all", data_dir)) for name in ("MR", "CR", "MPQA")]
    assert seen[0] > 0.8 * len(test)
    assert max(seen[1:]) < 0.01 * len(test)
    assert set(tasks_seen_with("MR")) > {"MR", "SST2"}
    for name in tasks_seen_with("MR"):
        assert name.removeprefix("GLUE-") in {*TRANSFER_TASKS, "attack-mr", "attack-sst2", *GLUE}
    assert tasks_seen_with("CR") == ("CR",)
    assert tasks_seen_with("builtin") == ("builtin-opinions",)  # and not the pairs of that name
    assert (name_of("builtin"), name_of("MPQA")) == ("builtin-opinions", "MPQA")


def _set(*texts):
    return Labelled("toy", "train", list(texts), np.arange(len(texts)) % 2, ("no", "yes"))


def test_what_is_compared_is_letters_and_digits_and_every_copy_goes():
    training = _set(("It's FINE, no. 3 !",), ("it is fine",), ("its fine no 4",), ("a naïve cliché",))
    kept, num_removed = without(training, [("it 's fine no 3",), ("a na ve clich",)])
    assert num_removed == 2
    assert kept.texts == [("it is fine",), ("its fine no 4",)]
    assert kept.labels.tolist() == [1, 0]
    assert (kept.name, kept.classes) == (training.name, training.classes)
    kept, num_removed = without(_set(("a b",), ("A-B",), ("c",)), [("ab",)])
    assert (kept.texts, num_removed) == ([("c",)], 2)


def test_every_input_attacked_in_mr_is_in_mr(data_dir):
    attacked, whole = read_attack_set("mr", data_dir), read_labelled("MR", "all", data_dir)
    assert num_found(attacked.texts, whole) == 1000
    kept, num_removed = without(whole, attacked.texts)
    assert len(kept) + num_removed == len(whole) == 10662
    assert num_removed == 1000
    assert num_found(attacked.texts, kept) == 0
    assert len(set(attacked.texts) & set(whole.texts)) == 6  # what an exact comparison would find
