"""Replayed attacks in training: every look is judged by them, and a cell is another cell where they are others."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from pydantic import ValidationError

from rse_study.data import builtin
from rse_study.data.labelled import StsPairs
from rse_study.evaluation.evaluations import FrozenEvaluation
from rse_study.evaluation.replayed import ReplayedPairs, ReplayedTexts
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import train
from rse_study.training.materials import Materials, identity_of
from tests.training.world import Complete, World, light_trial

ROBUST = {"robust/spearman", "robust/drift", "robust/drop", "robust/degenerate"}
REPLAYED = {"recipe": "pwws", "num_pairs": 40}


def other_words(num: int) -> ReplayedPairs:
    """Built-in dev pairs whose second sentence has lost its last word: an attack that needs no lexicon."""
    dev = builtin.graded_pairs("dev")
    clean = StsPairs("builtin", "dev", dev.first[:num], dev.second[:num], dev.gold[:num])
    shorter = [text.rsplit(" ", 1)[0] for text in clean.second]
    return ReplayedPairs(clean, dataclasses.replace(clean, second=shorter), "last word", "base")


def with_pairs(world: World, pairs: ReplayedPairs, name: str) -> Materials:
    """The world's materials, and replayed pairs in a folder of their own."""
    folder = world.root / name
    folder.mkdir()
    pairs.save(folder)
    own = world.materials()
    prints = {**own.fingerprints, "replayed": pairs.fingerprint}
    return dataclasses.replace(own, replayed=str(folder), fingerprints=prints)


def metrics_of(attack: FrozenEvaluation, embed: Embedder) -> dict[str, float]:
    """As a trial's history has them, by what the evaluation itself says."""
    rows = attack.score(embed, "")
    figures = {f"robust/{row.aggregation}": row.value for row in rows}
    return figures | {"robust/degenerate": float(any(row.degenerate for row in rows))}


def shortened(num: int) -> ReplayedTexts:
    """Generated opinions that have lost their last word, which is the one that judges."""
    told = builtin.opinions()
    clean, training = told.take(np.arange(num)), told.take(np.arange(num, num + 60))
    attacked = [(text.rsplit(" ", 1)[0],) for (text,) in clean.texts]
    return ReplayedTexts(training, clean, dataclasses.replace(clean, texts=attacked), "last word", "base")


def with_texts(materials: Materials, texts: ReplayedTexts, folder: Path) -> Materials:
    """Replayed texts besides."""
    folder.mkdir()
    texts.save(folder)
    prints = {**materials.fingerprints, "replayed_texts": texts.fingerprint}
    return dataclasses.replace(materials, replayed_texts=str(folder), fingerprints=prints)


def test_every_look_has_them_and_the_last_is_the_kept_models(world: World, tmp_path: Path) -> None:
    pairs = other_words(40)
    trial = light_trial(replayed=REPLAYED, selection={"dev": "builtin", "every": 5, "keep": "last"})
    points = list(train(trial, 3, with_pairs(world, pairs, "pairs-40"), tmp_path))
    assert [point.t for point in points if point.metrics.keys() >= ROBUST] == [0, 5, 10, 12]
    assert not any(ROBUST & point.metrics.keys() for point in points if "dev" not in point.metrics)
    embed = Embedder(*load_encoder(tmp_path / "model"))
    wanted = metrics_of(pairs, embed)
    assert {name: points[-1].metrics[name] for name in ROBUST} == pytest.approx(wanted, abs=1e-4)
    assert {name: read_result(tmp_path).final[name] for name in ROBUST} == pytest.approx(wanted, abs=1e-4)
    start = Embedder(*load_encoder(world.materials().base, trial.encoder.pooling))
    before = metrics_of(pairs, start)
    assert {name: points[0].metrics[name] for name in ROBUST} == pytest.approx(before, abs=1e-4)
    assert before != wanted and before["robust/degenerate"] == 0


def test_they_change_no_other_number(world: World, light: Complete, tmp_path: Path) -> None:
    """A look draws nothing: what is trained is the same, whether or not it is judged so."""
    materials = with_pairs(world, other_words(10), "pairs-10")
    judged = list(train(light_trial(replayed=REPLAYED), 3, materials, tmp_path / "judged"))
    plain = light.points
    assert all(not ROBUST & point.metrics.keys() for point in plain)
    rest = [{name: value for name, value in point.metrics.items() if name not in ROBUST} for point in judged]
    assert rest == [point.metrics for point in plain]


TEXTUAL = {"robust/accuracy", "robust/clean_accuracy"}
WITH_TEXTS = {**REPLAYED, "labelled": "builtin", "num_texts": 20, "num_training": 60}


def test_texts_are_judged_at_every_look_by_the_encoder_as_it_is_then(world: World, tmp_path: Path) -> None:
    texts = shortened(20)
    materials = with_texts(with_pairs(world, other_words(8), "pairs-8"), texts, world.root / "texts-20")
    trial = light_trial(replayed=WITH_TEXTS, selection={"dev": "builtin", "every": 5, "keep": "last"})
    points = list(train(trial, 3, materials, tmp_path / "judged"))
    assert [point.t for point in points if point.metrics.keys() >= ROBUST | TEXTUAL] == [0, 5, 10, 12]
    for encoder, point in (("model", points[-1]), ("base", points[0])):
        folder = tmp_path / "judged" / "model" if encoder == "model" else materials.base
        embed = Embedder(*load_encoder(folder, trial.encoder.pooling))
        wanted = metrics_of(texts, embed)
        for name in TEXTUAL:
            assert point.metrics[name] == pytest.approx(wanted[name]), name
    pairs_alone = list(train(trial, 3, dataclasses.replace(materials, replayed_texts=""), tmp_path / "pairs"))
    rest = [{name: value for name, value in point.metrics.items() if name not in TEXTUAL} for point in points]
    assert rest == [point.metrics for point in pairs_alone]


PRINTS = {"corpus": "c", "base": "b", "dev": "d", "generator": "g"}
WITHOUT = Materials(corpus=Path("corpus"), base="base", dev=builtin.graded_pairs("dev"), fingerprints=PRINTS)


def identity(fingerprint: str = "", **replayed: object) -> str:
    prints = {**PRINTS, **({"replayed": fingerprint} if fingerprint else {})}
    return identity_of(light_trial(replayed=replayed), 3, dataclasses.replace(WITHOUT, fingerprints=prints))


def test_another_set_is_another_cell() -> None:
    one = identity(other_words(40).fingerprint, recipe="pwws")
    assert one == identity(other_words(40).fingerprint, recipe="pwws")
    assert one != identity(other_words(39).fingerprint, recipe="pwws")
    assert one != identity()
    # By its texts, not by the folder of whom they were found against.
    assert one == identity(other_words(40).fingerprint, recipe="pwws", reference="elsewhere/encoder")


def test_where_nothing_is_replayed_or_no_texts_are_attacked_their_settings_decide_nothing() -> None:
    before = identity_of(light_trial(), 3, WITHOUT)
    others = {"sides": "both", "seed": 5, "reference": "./elsewhere"}
    for settings in ({}, {"num_pairs": 7}, {"num_texts": 7, "num_training": 30}, others):
        assert identity(**settings) == before
        assert "replayed" not in light_trial(replayed=settings).identity()
    named = light_trial(replayed=REPLAYED).identity()["replayed"]
    assert (named["recipe"], named["num_pairs"], named["seed"]) == ("pwws", 40, 0)
    print_ = other_words(40).fingerprint
    before = identity(print_, recipe="pwws")
    assert identity(print_, recipe="pwws", num_texts=7, num_training=30) == before
    assert identity(print_, recipe="pwws", labelled="MR") != before
    texts = {"recipe": "pwws", "labelled": "MR"}
    assert identity(print_, **texts, num_texts=7) != identity(print_, **texts)
    with pytest.raises(ValidationError, match="labelled: MR needs a recipe that attacks its texts"):
        light_trial(replayed={"labelled": "MR"})
