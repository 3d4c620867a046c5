"""Watched evaluations as assets: read where the data lie, named by what they hold."""

import json

import pytest

from rse_study.assets import prepare
from rse_study.assets.store import META
from rse_study.assets.watched import watched_evaluation
from rse_study.data import builtin
from rse_study.errors import MissingFile
from rse_study.evaluation.serialise import FILE, read_stored
from rse_study.evaluation.sts import Similarity
from tests.data.test_few_labelled import customer_reviews
from tests.training.world import World, small_trial

GOOD = [f"good {i}" for i in range(8)]


def test_it_is_made_once_and_read_without_the_data_folder(tmp_path):
    customer_reviews(tmp_path, [f"bad {i}" for i in range(8)], GOOD)
    first = watched_evaluation(tmp_path / "assets", "CR/fast", tmp_path)
    written = (first.folder / FILE).stat().st_mtime_ns
    assert watched_evaluation(tmp_path / "assets", "CR/fast", tmp_path) == first
    assert (first.folder / FILE).stat().st_mtime_ns == written
    (tmp_path / "transfer").rename(tmp_path / "gone")
    again = read_stored(first.folder)
    assert (again.name, again.fingerprint) == ("CR/fast", first.fingerprint)
    assert json.loads((first.folder / META).read_text())["name"] == "CR/fast"


def test_another_preset_or_other_data_are_another_asset(tmp_path):
    customer_reviews(tmp_path / "one", [f"bad {i}" for i in range(8)], GOOD)
    customer_reviews(tmp_path / "other", [f"worse {i}" for i in range(8)], GOOD)
    asked = [("CR/fast", "one"), ("CR/full", "one"), ("CR/fast", "other")]
    folders = {watched_evaluation(tmp_path / "assets", name, tmp_path / data).folder for name, data in asked}
    assert len(folders) == 3


def test_data_that_are_missing_are_missed_before_anything_is_made(tmp_path):
    with pytest.raises(MissingFile, match=r"custrev\.neg"):
        watched_evaluation(tmp_path / "assets", "CR/fast", tmp_path)
    assert not (tmp_path / "assets").exists()


def test_a_trials_materials_hold_them_and_their_fingerprints(tmp_path):
    base = World(tmp_path, builtin.corpus(0, 60)).materials().base
    encoder, corpus = {"name": base, "pooling": "mean"}, {"source": {"kind": "builtin", "num_sentences": 60}}
    settings = {"encoder": encoder, "corpus": corpus, "method": {"lambda2": 0}}
    watching = prepare(small_trial(**settings, watched={"builtin/test": 5}), tmp_path, tmp_path)
    wanted = Similarity(builtin.graded_pairs("test"))
    assert list(watching.watched) == ["builtin/test"]
    assert read_stored(tmp_path / watching.watched["builtin/test"]).fingerprint == wanted.fingerprint
    without = prepare(small_trial(**settings), tmp_path, tmp_path)
    assert without.watched == {}
    assert watching.fingerprints == without.fingerprints | {"watched builtin/test": wanted.fingerprint}
