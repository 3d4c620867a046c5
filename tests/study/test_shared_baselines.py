"""A baseline that one study of a base measured is read by the next."""

from dataclasses import replace

import pytest

from rse_study.data import builtin
from rse_study.evaluation.sts import Similarity
from rse_study.results.files.evaluation_file import FILE_NAME
from rse_study.study import shared_baselines
from rse_study.study.baselines import measure_baselines
from rse_study.study.shared_baselines import FOLDER, measure_baseline_once
from tests.training.world import World, small_trial


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120)).materials(dropout=0.0)


@pytest.fixture
def materials(made, tmp_path):
    """A corpus that lies beside nobody else's."""
    corpus = tmp_path / "corpus"
    return replace(made, corpus=corpus, fingerprints=made.fingerprints | {"base": "of the world"})


@pytest.fixture
def measured(monkeypatch):
    """What is really measured: (baseline, pairs), one for each."""
    heard = []

    def listen(trial, materials, names, evaluations, **more):
        heard.extend((name, one.pairs.name) for name in names for one in evaluations)
        return measure_baselines(trial, materials, names, evaluations, **more)

    monkeypatch.setattr(shared_baselines, "measure_baselines", listen)
    return heard


def similarities(materials, *names):
    return [Similarity(replace(materials.dev, name=name)) for name in names]


def test_the_next_study_reads_what_the_first_one_measured(materials, measured):
    trial = small_trial()
    first = measure_baseline_once(trial, materials, "mean", similarities(materials, "one"))
    again = measure_baseline_once(trial, materials, "mean", similarities(materials, "one"))
    assert first
    assert again == first
    assert measured == [("mean", "one")]


def test_what_is_new_alone_is_measured(materials, measured):
    trial, both = small_trial(), similarities(materials, "one", "two")
    measure_baseline_once(trial, materials, "mean", both[:1])
    rows = measure_baseline_once(trial, materials, "mean", both)
    assert {row.task for row in rows} == {"one", "two"}
    measure_baseline_once(trial, materials, "cls", both[:1])
    assert measured == [("mean", "one"), ("mean", "two"), ("cls", "one")]


def test_of_other_data_nothing_is_taken(materials, measured):
    trial, (one,) = small_trial(), similarities(materials, "one")
    measure_baseline_once(trial, materials, "mean", [one])
    other = Similarity(replace(one.pairs, gold=one.pairs.gold[::-1].copy()))
    rows = measure_baseline_once(trial, materials, "mean", [other])
    assert {row.fingerprint for row in rows} == {other.fingerprint} != {one.fingerprint}
    assert len(measured) == 2


def test_another_base_is_measured(materials, measured):
    evaluations = similarities(materials, "one")
    for encoder, fingerprint in (("mean", "a"), ("cls", "a"), ("mean", "b")):
        trial = small_trial(encoder={"pooling": encoder})
        base = replace(materials, fingerprints=materials.fingerprints | {"base": fingerprint})
        measure_baseline_once(trial, base, "start", evaluations)
    assert len(measured) == 3


def test_other_kernels_measure(materials, measured, monkeypatch):
    for choice in ("COMPATIBLE", "AVX2", "AVX2"):
        monkeypatch.setenv("MKL_CBWR", choice)
        measure_baseline_once(small_trial(), materials, "mean", similarities(materials, "one"))
    assert len(measured) == 2


def test_what_is_damaged_is_measured_again(materials, measured):
    trial, evaluations = small_trial(), similarities(materials, "one")
    first = measure_baseline_once(trial, materials, "mean", evaluations)
    (path,) = (materials.corpus.parent / FOLDER).rglob(FILE_NAME)
    path.write_text(path.read_text(encoding="utf-8").replace('"value": ', '"value": 1'), encoding="utf-8")
    assert measure_baseline_once(trial, materials, "mean", evaluations) == first
    assert len(measured) == 2


def test_weights_that_nobody_knows_share_nothing(materials, measured):
    known = {name: one for name, one in materials.fingerprints.items() if name != "base"}
    unknown, evaluations = replace(materials, fingerprints=known), similarities(materials, "one")
    for _ in range(2):
        measure_baseline_once(small_trial(), unknown, "mean", evaluations)
    assert len(measured) == 2
    assert not (materials.corpus.parent / FOLDER).exists()
