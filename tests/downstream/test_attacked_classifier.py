"""Classifiers and similarities under attack, as a study asks for them: real victims, real recipes, toy texts."""

import json
import shutil
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from rse_study.assets.attack_resources import fingerprint_resources, resources_for
from rse_study.data.labelled import Labelled
from rse_study.downstream import ADVERSARIAL_STS, Attacks, Settings, read_evaluation
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.downstream.models import ModelFiles, ScoredModel, score_model
from rse_study.errors import InputError, MissingFile
from rse_study.models.embedder import Embedder
from rse_study.models.export import HEAD
from rse_study.models.loading import load_encoder
from rse_study.results.files.attack_file import read_attacks
from rse_study.storage.folders import NodeCache
from rse_study.storage.storage import Storage
from rse_study.training.classifier import FineTuning
from tests.training.classifier.sorted_words import LEARNS, singles

FIGURES = {"success_rate", "original_accuracy", "accuracy_under_attack"}
FIGURES |= {"queries", "words_changed", "victim_accuracy"}


@pytest.fixture(scope="module")
def made(evaluation, learner, tmp_path_factory):
    """The victim of all evaluations of `evaluation`."""
    folder = tmp_path_factory.mktemp("made")
    evaluation().victim(ModelFiles(learner, "mean", folder, folder))
    return folder


@pytest.fixture
def weights(learner, made, tmp_path):
    return ModelFiles(learner, "mean", Path(shutil.copytree(made, tmp_path / "made")), tmp_path / "kept")


@pytest.fixture(scope="module")
def embed(learner):
    return Embedder(*load_encoder(learner, "mean"))


@pytest.fixture(scope="module")
def evaluation(data_dir):
    """PWWS on words that WordNet knows; the victim sees the toy groups of words."""

    def made(**changes) -> AttackedClassifier:
        training = singles(80)
        inputs = Labelled("attack-toy", "test", training.texts[:6], training.labels[:6], training.classes)
        settings = Settings(Attacks(**changes), LEARNS)
        return AttackedClassifier(inputs, training, "pwws", settings, resources_for("pwws", data_dir, ""), "")

    return made


def test_a_row_a_figure_and_every_outcome_kept(evaluation, weights, embed):
    asked = evaluation()
    rows = score_model(ScoredModel("me", embed, weights), [asked])
    found = {row.aggregation: row for row in rows}
    assert set(found) == FIGURES
    assert {row.evaluation for row in rows} == {asked.name} == {"attack-toy/pwws"}
    assert {row.num_examples for row in rows} == {6}
    assert {measure.metric for measure in asked.measures} <= {row.metric for row in rows}
    (kept,) = weights.kept.glob("*.jsonl")
    head, *outcomes = [json.loads(line) for line in kept.read_text().splitlines()]
    assert (head["recipe"], head["fingerprint"], len(outcomes)) == ("pwws", asked.whole.fingerprint, 6)
    assert read_attacks(weights.kept).summary["num_inputs"].tolist() == [6]
    for figure in ("success_rate", "accuracy_under_attack"):
        assert np.nanmean(found[figure].items.scores) == pytest.approx(found[figure].value)
    assert np.isnan(found["success_rate"].items.scores).sum() == found["success_rate"].num_skipped
    assert found["queries"].items is None
    ends = Counter(one["outcome"] for one in outcomes)
    succeeded, skipped = ends["succeeded"], ends["skipped"]
    assert found["success_rate"].num_skipped == skipped
    assert found["success_rate"].value == pytest.approx(100 * succeeded / (6 - skipped))
    assert found["accuracy_under_attack"].value == pytest.approx(100 * (6 - skipped - succeeded) / 6)


def test_an_attack_on_cola_has_the_correlation_of_answers_under_attack(evaluation, weights, embed):
    asked = evaluation()
    asked = replace(asked, whole=replace(asked.whole, name="attack-cola"))
    found = {row.aggregation: row.value for row in score_model(ScoredModel("me", embed, weights), [asked])}
    assert set(found) == {*FIGURES, "matthews_under_attack"}
    (kept,) = weights.kept.glob("cola-*.jsonl")
    outcomes = [json.loads(line) for line in kept.read_text().splitlines()][1:]
    right = {(one["label"], one["outcome"] == "failed"): 0 for one in outcomes}
    for one in outcomes:  # of two classes an answer is right where the attack failed, and only there
        right[one["label"], one["outcome"] == "failed"] += 1
    tp, fn, tn, fp = (right.get(key, 0) for key in ((1, True), (1, False), (0, True), (0, False)))
    of = [tp + fp, tp + fn, tn + fp, tn + fn]
    expected = (tp * tn - fp * fn) / np.sqrt(np.prod(of)) if all(of) else 0.0
    assert found["matthews_under_attack"] == pytest.approx(100 * expected)
    assert found["accuracy_under_attack"] == pytest.approx(100 * (tp + tn) / 6)


def test_asked_again_nothing_is_attacked_again(evaluation, weights, embed):
    subject = ScoredModel("me", embed, weights)
    rows = score_model(subject, [evaluation()])
    (kept,) = weights.kept.glob("*.jsonl")
    lines = kept.read_text().splitlines(keepends=True)
    kept.write_text("".join(lines[:3]))  # as if it had been killed
    assert score_model(subject, [evaluation()]) == rows
    assert sorted(kept.read_text().splitlines()) == sorted("".join(lines).splitlines())


def test_a_classifier_made_again_with_other_weights_is_another_victim(evaluation, weights, embed):
    """A study drops its classifiers; on another device the same materials give others under the old name."""
    first = evaluation(num_inputs=3).attacked(evaluation().victim(weights), weights.kept)[0]
    (kept,) = weights.kept.glob("*.jsonl")
    before = kept.read_bytes()
    made = evaluation().victim(weights)
    head = {name: value + 1e-6 for name, value in load_file(made.folder / HEAD).items()}
    save_file(head, made.folder / HEAD)
    again = evaluation().victim(weights)
    assert again.folder.name == first.victim
    with pytest.raises(InputError, match=r"another attack \(weights differ\)"):
        evaluation().attacked(again, weights.kept)
    assert kept.read_bytes() == before
    grown = evaluation().attacked(again, weights.kept, replaces=True)[0]
    assert (grown.num_now, grown.num_inputs, first.num_now) == (6, 6, 3)
    assert json.loads(kept.read_text().splitlines()[0])["weights"] == again.weights
    assert grown.attack != first.attack


def test_other_settings_are_other_figures(evaluation, weights, embed):
    few, other = evaluation(num_inputs=2), evaluation(max_queries=3)
    assert len({one.fingerprint for one in (evaluation(), few, other, evaluation(seed=1))}) == 4
    rows = score_model(ScoredModel("me", embed, weights), [few, other])
    assert [row.num_examples for row in rows if row.aggregation == "success_rate"] == [2, 6]
    assert len(list(weights.kept.glob("*.jsonl"))) == 1  # those of other settings were of no use any more
    assert len([path for path in weights.made.iterdir() if path.is_dir()]) == 1  # one victim for both
    queries = next(row.value for row in rows if row.metric.endswith("/queries") and row.num_examples == 6)
    assert queries <= 3


def test_a_probe_on_frozen_vectors_is_another_victim(evaluation, weights, embed):
    asked = evaluation(classifier="probe")
    rows = {row.aggregation: row for row in score_model(ScoredModel("me", embed, weights), [asked])}
    assert asked.fingerprint != evaluation().fingerprint
    probe, tuned = asked.victim(weights), evaluation().victim(weights)
    assert probe.folder != tuned.folder
    assert rows["victim_accuracy"].value == pytest.approx(100 * probe.dev_accuracy)


def test_attack_sets_and_adversarial_sts_are_read_by_name(data_dir):
    for name in ("attack-mr/pwws", "attack-mrpc/pwws", "attack-mnli_matched/pwws"):
        few = Settings(Attacks(num_inputs=5, num_training=50), FineTuning())
        found = read_evaluation(name, data_dir, few)
        assert (found.name, len(found.inputs), len(found.training)) == (name, 5, 50)
        assert found.inputs.classes == found.training.classes
        assert len(found.whole) == 1000
    for task in ADVERSARIAL_STS:
        found = read_evaluation(f"{task}/pwws", data_dir, Settings(Attacks(num_inputs=5), FineTuning()))
        assert found.name == f"{task}/pwws"
        assert found.pairs.split == "test" != found.fitting.split
        assert found.num_sentences == 2 * (5 + len(found.fitting))


def test_a_set_or_a_model_that_is_not_here_is_refused_by_name(data_dir, tmp_path):
    with pytest.raises(InputError, match="no masked language model"):
        fingerprint_resources("bae", data_dir, "")
    with pytest.raises(InputError):
        read_evaluation("attack-mr/bae", data_dir)
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    with pytest.raises(MissingFile):
        read_evaluation("attack-mr/pwws", tmp_path)


def test_an_evaluation_elsewhere_reads_word_lists_there_and_finds_the_same(data_dir, tmp_path, monkeypatch):
    """Stored by the driver, taken by a node that has no data folder."""
    monkeypatch.setenv("RSE_STUDY_CACHE", str(tmp_path / "driver"))
    storage = Storage(str(tmp_path / "storage"), 0.0)
    storage.require()
    driver, node = NodeCache(tmp_path / "driver", storage), NodeCache(tmp_path / "node", storage)
    here = resources_for("pwws", data_dir, "")
    there = here.relocated(lambda name: driver.put(Path(name))).relocated(lambda name: str(node.take(name)))
    assert there.data_dir.is_relative_to(tmp_path / "node")
    assert fingerprint_resources("pwws", there.data_dir, "") == fingerprint_resources("pwws", data_dir, "")
    assert there().data_dir == there.data_dir
