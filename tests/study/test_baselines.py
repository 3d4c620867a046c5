"""Baselines are what their names say, measured on the same weights."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr

from rse_study.data import builtin
from rse_study.downstream import Attacks, Settings, read_evaluation
from rse_study.evaluation.sts import Similarity, evaluate_sts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.files.result_file import EVALUATIONS_FILE
from rse_study.results.records import BASELINES
from rse_study.study import baselines
from rse_study.study.baselines import FINE_TUNED, FOLDER, measure_baseline, measure_baseline_once
from tests.cases import cases
from tests.downstream.toy_tasks import write_nli
from tests.training.classifier.sorted_words import LEARNS
from tests.training.world import World, small_trial


def values(rows):
    return {(row.subject, row.task): row.value for row in rows if row.aggregation == "all"}


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    sentences = builtin.corpus(0, 120)
    materials = World(tmp_path_factory.mktemp("world"), sentences).materials(dropout=0.0)
    other = replace(materials.dev, name="other", gold=materials.dev.gold[::-1].copy())
    asked = [Similarity(materials.dev), Similarity(other)]
    rows = [row for name in BASELINES for row in measure_baseline(name, small_trial(), materials, asked)]
    return materials, other, values(rows)


def test_each_baseline_has_every_task(measured):
    materials, other, found = measured
    of_vectors = {*BASELINES} - {*FINE_TUNED}
    assert found.keys() == {(name, pairs.name) for name in of_vectors for pairs in (materials.dev, other)}


def test_some_baselines_are_of_fine_tuned_classifiers_alone(measured, learner, tmp_path, data_dir):
    (tmp_path / "lexicon").symlink_to(data_dir / "lexicon")
    write_nli(tmp_path, "snli/snli_1.0_train", 60, seed=0)
    write_nli(tmp_path, "snli/snli_1.0_test", 12, seed=1)
    settings = Settings(Attacks(), LEARNS.model_copy(update={"epochs": 1}), augments=True)
    asked = [read_evaluation("SNLI/fine_tuned", tmp_path, settings), Similarity(measured[0].dev)]
    materials = replace(measured[0], base=learner)
    rows = [
        row
        for name in ("start", *FINE_TUNED)
        for row in measure_baseline(name, small_trial(), materials, asked, tmp_path / "out")
    ]
    of_snli = {row.subject: row.value for row in rows if row.task == "SNLI"}
    assert of_snli.keys() == {"start", *FINE_TUNED}
    assert {row.subject for row in rows if row.task != "SNLI"} == {"start"}
    classifiers = [json.loads(path.read_text()) for path in tmp_path.glob("out/**/meta.json")]
    for name, length in (("adversarial", 1.0), ("augmented", 0.15)):
        assert sorted(one["spec"].get(name, 0.0) for one in classifiers) == [0.0, 0.0, length]


@cases("pooling", ["cls", "mean", "first_last"])
def test_a_pooling_is_that_of_the_bases_own_weights(measured, pooling):
    materials, _, found = measured
    scores = evaluate_sts(Embedder(*load_encoder(materials.base, pooling)), [materials.dev])
    assert found[pooling, materials.dev.name] == scores[0].value


def test_whitening_uses_the_tasks_own_sentences(measured):
    """Cosines of whitened vectors, by the inverse covariance of the task's distinct sentences."""
    materials, _, found = measured
    pairs = materials.dev
    texts = sorted({*pairs.first, *pairs.second})
    vectors = Embedder(*load_encoder(materials.base, "mean"))(texts).astype(np.float64)
    inverse = np.linalg.pinv(np.cov(vectors.T, bias=True), rcond=1e-10, hermitian=True)
    centred = dict(zip(texts, vectors - vectors.mean(0), strict=True))

    def cosine(one, two):
        a, b = centred[one], centred[two]
        return (a @ inverse @ b) / np.sqrt((a @ inverse @ a) * (b @ inverse @ b))

    cosines = [round(cosine(*pair), 12) for pair in zip(pairs.first, pairs.second, strict=True)]
    expected = pytest.approx(100 * spearmanr(cosines, pairs.gold).statistic, abs=1e-6)
    assert found["whitening", pairs.name] == expected


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120)).materials(dropout=0.0)


@pytest.fixture
def materials(made, tmp_path):
    """A corpus that lies beside nobody else's."""
    corpus = tmp_path / "corpus"
    return replace(made, corpus=corpus, fingerprints=made.fingerprints | {"base": "of the world"})


@pytest.fixture
def heard(monkeypatch):
    """What is really measured: (baseline, pairs), one for each."""
    heard = []

    def listen(name, trial, materials, evaluations, **more):
        heard.extend((name, one.pairs.name) for one in evaluations)
        return measure_baseline(name, trial, materials, evaluations, **more)

    monkeypatch.setattr(baselines, "measure_baseline", listen)
    return heard


def similarities(materials, *names):
    return [Similarity(replace(materials.dev, name=name)) for name in names]


def test_the_next_study_reads_what_the_first_one_measured(materials, heard):
    trial = small_trial()
    first = measure_baseline_once("mean", trial, materials, similarities(materials, "one"))
    again = measure_baseline_once("mean", trial, materials, similarities(materials, "one"))
    assert first
    assert again == first
    assert heard == [("mean", "one")]


def test_what_is_new_alone_is_measured(materials, heard):
    trial, both = small_trial(), similarities(materials, "one", "two")
    measure_baseline_once("mean", trial, materials, both[:1])
    rows = measure_baseline_once("mean", trial, materials, both)
    assert {row.task for row in rows} == {"one", "two"}
    measure_baseline_once("cls", trial, materials, both[:1])
    assert heard == [("mean", "one"), ("mean", "two"), ("cls", "one")]


def test_of_other_data_nothing_is_taken(materials, heard):
    trial, (one,) = small_trial(), similarities(materials, "one")
    measure_baseline_once("mean", trial, materials, [one])
    other = Similarity(replace(one.pairs, gold=one.pairs.gold[::-1].copy()))
    rows = measure_baseline_once("mean", trial, materials, [other])
    assert {row.fingerprint for row in rows} == {other.fingerprint} != {one.fingerprint}
    assert len(heard) == 2


def test_what_is_damaged_is_measured_again(materials, heard):
    trial, evaluations = small_trial(), similarities(materials, "one")
    first = measure_baseline_once("mean", trial, materials, evaluations)
    (path,) = (materials.corpus.parent / FOLDER).rglob(EVALUATIONS_FILE)
    path.write_text(path.read_text(encoding="utf-8").replace('"value": ', '"value": 1'), encoding="utf-8")
    assert measure_baseline_once("mean", trial, materials, evaluations) == first
    assert len(heard) == 2
