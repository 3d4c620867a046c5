import numpy as np
import pytest

from rse_study.data.attack_sets import ATTACK_SETS
from rse_study.data.victim_texts import training_for
from rse_study.errors import InputError, MissingFile
from tests.cases import cases

TRAINED_ON = {
    "mr": ("MR", 10662),
    "imdb": ("review-polarity", 2000),
    "yelp": ("uci-yelp", 1000),
    "mnli_matched": ("SNLI-subset", 2527),
}


@cases("name", TRAINED_ON)
def test_a_victim_is_trained_on_texts_of_the_same_classes(name, data_dir):
    found = training_for(name, data_dir)
    assert (found.name, len(found)) == TRAINED_ON[name]
    assert found.classes == ATTACK_SETS.get(name)
    assert set(np.unique(found.labels)) == set(range(len(found.classes)))


def test_reviews_of_the_attacked_sets_train_before_their_stand_ins(tmp_path, data_dir):
    (tmp_path / "sentiment").mkdir()
    for below in ("review_polarity_v2", "uci_labelled"):
        (tmp_path / "sentiment" / below).symlink_to(data_dir / "sentiment" / below)
    assert [training_for(name, tmp_path).name for name in ("imdb", "yelp")] == ["review-polarity", "uci-yelp"]
    for name in ("imdb", "yelp"):
        path = tmp_path / f"sentiment/{name}/train.jsonl"
        path.parent.mkdir()
        path.write_text('{"label": 0, "text": "bad"}\n{"label": 1, "text": "good"}\n')
        found = training_for(name, tmp_path)
        assert (found.name, found.split, len(found)) == (name.upper(), "train", 2)
        assert found.classes == ATTACK_SETS.get(name)


def test_where_there_is_nothing_to_train_on_it_is_said(tmp_path):
    with pytest.raises(InputError, match="no training texts"):
        training_for("ag", tmp_path)
    with pytest.raises(InputError, match=r"no such attack set .mrr.. Did you mean .mr."):
        training_for("mrr", tmp_path)
    with pytest.raises(MissingFile):
        training_for("snli", tmp_path)
