import json
import os
import signal
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from rse_study.assets.store import asset_path
from rse_study.assets.victim import victim
from rse_study.data.attack_sets import held_out, unseen
from rse_study.data.labelled import Labelled
from rse_study.errors import InputError
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.spec import hash_file
from tests.training.classifier.sorted_words import LEARNS, singles, small_base

INPUTS = [("red , BLUE",), ("never in training",)]


@pytest.fixture(scope="module")
def build_at(learner):
    """A victim in a folder and the steps it took."""

    def built(
        at,
        training=None,
        *,
        seed=0,
        inputs=INPUTS,
        spec=LEARNS,
        on_progress=lambda done, total: None,
        **changes,
    ):
        steps = []

        def count(done, total):
            steps.append(done)
            on_progress(done, total)

        settings = {
            "base": learner,
            "pooling": "mean",
            "inputs": inputs,
            "seed": seed,
            "spec": spec,
        } | changes
        return victim(at, **settings, training=training or _training(), on_progress=count), steps

    return built


@pytest.fixture
def build(build_at, tmp_path):
    return partial(build_at, tmp_path)


@pytest.fixture(scope="module")
def trained(build_at, root):
    """The victim by default and the steps it took."""
    return build_at(root)


def _training(num=80, **changes):
    """Groups of words, one of the inputs among them twice."""
    data = singles(num, **changes)
    texts = [*data.texts, ("Red. Blue!",), ("red blue",)]
    return Labelled(data.name, data.split, texts, np.append(data.labels, [0, 0]), data.classes)


def test_it_is_trained_once_and_never_saw_what_it_is_asked(build_at, trained, root):
    found, steps = trained
    assert steps
    meta = json.loads((found.folder / "meta.json").read_text())
    num_twins = len(singles().texts) - len(unseen(singles().texts, [("red blue",)]))
    assert found.num_removed == meta["num_removed"] == 2 + num_twins
    assert meta["num_training"] + meta["num_dev"] == 82 - found.num_removed
    assert meta["weights"] == hash_file(found.folder / "model.safetensors")
    assert (meta["dev_accuracy"], meta["weak"]) == (found.dev_accuracy, False)
    assert found.dev_accuracy > 0.9
    assert found.folder == asset_path(root, "victim", _key(found.folder))
    before = {path: path.stat().st_mtime_ns for path in found.folder.rglob("*")}
    again, further = build_at(root)
    assert (again, further) == (found, [])
    assert {path: path.stat().st_mtime_ns for path in found.folder.rglob("*")} == before
    assert [path.name for path in root.iterdir() if path.suffix != ".lock"] == [found.folder.name]


def test_it_says_what_the_classifier_said_and_is_an_encoder(trained):
    found, _ = trained
    unseen = singles(60, seed=9)
    predicted = found.load().predict(unseen.texts)
    assert (predicted.argmax(1) == unseen.labels).mean() > 0.95
    assert found.load().classes == ("hue", "pet")
    assert load_encoder(found.folder)[0].pooling == "mean"


def test_whatever_decides_its_numbers_makes_another(build, tmp_path):
    one_epoch = LEARNS.model_copy(update={"epochs": 1})
    first, _ = build(spec=one_epoch)
    small_base(tmp_path / "other_base", seed=3)
    changed = _training()
    changed.labels[0] = 1 - changed.labels[0]
    others = [
        build(spec=one_epoch, seed=1),
        build(changed, spec=one_epoch),
        build(_training(79), spec=one_epoch),
        build(spec=one_epoch.model_copy(update={"lr": 4e-3})),
        build(spec=one_epoch, pooling="cls"),
        build(spec=one_epoch, base=str(tmp_path / "other_base")),
        build(spec=one_epoch, inputs=[*INPUTS, singles().texts[0]]),
    ]
    assert all(steps for _, steps in others)
    assert len({found.folder for found, _ in [(first, []), *others]}) == 8
    # Inputs that remove nothing more do not.
    assert build(spec=one_epoch, inputs=[*INPUTS, ("not there either",)]) == (first, [])


def test_a_poor_one_is_marked_weak(build):
    data = singles(120)
    noise = np.random.default_rng(0).integers(0, 2, 120)
    shuffled = Labelled(data.name, data.split, data.texts, noise, data.classes)
    found, _ = build(shuffled, spec=LEARNS.model_copy(update={"epochs": 1, "lr": 1e-6}))
    assert found.is_weak
    assert found.dev_accuracy < 0.6


def test_interrupted_it_goes_on_where_it_stopped(build, trained, tmp_path):
    def ctrl_c(done, total):
        if done == 6:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        build(on_progress=ctrl_c)
    interrupted, steps = build()
    assert steps[0] == 7
    assert not list(tmp_path.glob(".*.steps"))
    weights = (interrupted.folder / "model.safetensors").read_bytes()
    assert (trained[0].folder / "model.safetensors").read_bytes() == weights


def test_one_that_was_never_finished_is_made_again(build):
    spec = LEARNS.model_copy(update={"epochs": 1})
    first, _ = build(spec=spec)
    (first.folder / "meta.json").unlink()
    assert build(spec=spec)[1][0] == 1


def _key(folder):
    meta = json.loads((folder / "meta.json").read_text())
    return {name: meta[name] for name in ("spec", "seed", "base", "pooling", "training", "dev")}


def test_a_probe_is_a_logistic_regression_on_the_frozen_vectors(build, learner):
    """Its encoder keeps every bit, and it answers as scikit-learn's own on centred and scaled vectors."""
    training = singles(80, seed=3)
    probe, steps = build(training, inputs=[], is_probe=True)
    assert not steps
    network = probe.load().network
    encoder, tokenizer = load_encoder(learner, "mean")
    kept = network.encoder.state_dict()
    assert all(torch.equal(value, kept[name]) for name, value in encoder.state_dict().items())

    is_dev = held_out(training.texts, LEARNS.dev_share)
    features = Embedder(encoder, tokenizer)([text for (text,) in training.texts]).astype(np.float64)
    features -= features[~is_dev].mean(axis=0)
    features /= np.sqrt(np.mean(features[~is_dev] ** 2))

    def fitted(C):
        model = LogisticRegression(C=C, max_iter=1000)
        return model.fit(features[~is_dev], training.labels[~is_dev])

    choices = [fitted(C) for C in (1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0)]
    accuracies = [model.score(features[is_dev], training.labels[is_dev]) for model in choices]
    best = choices[int(np.argmax(accuracies))]
    assert probe.dev_accuracy == pytest.approx(max(accuracies))
    answers = probe.load().predict(training.texts)
    np.testing.assert_allclose(answers, best.predict_proba(features), atol=1e-5)
    assert build(training, inputs=[])[0].folder != probe.folder


def test_a_probe_of_a_class_without_training_text_is_refused(build):
    labels = np.zeros(40, int)
    training = replace(singles(40), labels=labels)
    with pytest.raises(InputError, match="no text of class"):
        build(training, is_probe=True)
