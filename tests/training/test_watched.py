"""Evaluations in the course of training: each at its own pace, and a cell ends in the same weights without them."""

import dataclasses
import math
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from rse_study.data import builtin
from rse_study.evaluation.evaluations import measure
from rse_study.evaluation.geometry import AlignmentUniformity
from rse_study.evaluation.serialise import store
from rse_study.evaluation.sts import Similarity
from rse_study.models.embedder import Embedder
from rse_study.models.loading import load_encoder
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import drive, train
from rse_study.training.materials import Materials, identity_of
from tests.on_ray.world import few_pairs
from tests.training.world import leave_at, light_trial

GEOMETRY = AlignmentUniformity(dataclasses.replace(few_pairs("builtin/dev"), name="STS-B"))
SIMILARITY = Similarity(few_pairs("builtin/test"))
CADENCES = {"STS-B/geometry": 5, "builtin/test": 8}  # of 12 steps; dev every 5, points of the history every 2
ALIGNMENT, SPEARMAN = "STS-B/geometry/alignment", "builtin/test/all"
LAST = {"dev": "builtin", "every": 5, "keep": "last"}


@pytest.fixture(scope="module")
def watching(world, tmp_path_factory):
    """The world's materials, and what is watched in folders."""
    folders = {}
    for evaluation in (GEOMETRY, SIMILARITY):
        folder = tmp_path_factory.mktemp(evaluation.name.replace("/", "-"))
        store(evaluation, folder)
        folders[evaluation.name] = str(folder)
    return dataclasses.replace(world.materials(), watched=folders)


def when(points, metric: str) -> list[int]:
    return [point.t for point in points if metric in point.metrics]


@pytest.fixture(scope="module")
def watched(watching, tmp_path_factory):
    """A cell that was watched to its end."""
    directory = tmp_path_factory.mktemp("watched")
    drive(train(light_trial(watched=CADENCES, selection=LAST), 3, watching, directory), lambda progress: None)
    return directory


def test_each_is_measured_at_its_own_steps_of_the_model_as_it_is_then(watched, watching):
    history = read_result(watched).history
    assert when(history, ALIGNMENT) == when(history, "STS-B/geometry/uniformity") == [0, 5, 10, 12]
    assert when(history, SPEARMAN) == [0, 8, 12]
    assert when(history, "dev") == [0, 5, 10, 12]
    assert when(history, "loss") == [2, 4, 5, 6, 8, 10, 12]  # 8 is a point of the history anyway, 5 a look
    history = read_result(watched).history
    for encoder, point in ((watched / "model", history[-1]), (watching.base, history[0])):
        found = measure(Embedder(*load_encoder(encoder, "mean")), [GEOMETRY, SIMILARITY])
        assert {name: point.metrics[name] for name in found} == pytest.approx(found, abs=1e-4)
    assert history[0].metrics[ALIGNMENT] != history[-1].metrics[ALIGNMENT]


def test_a_step_that_only_a_watched_one_asks_for_is_a_point(watching, tmp_path):
    trial = light_trial(watched={"STS-B/geometry": 7}, selection=LAST)
    points = list(train(trial, 3, watching, tmp_path))
    assert when(points, ALIGNMENT) == [0, 7, 12]
    assert points[[point.t for point in points].index(7)].metrics.keys() > {"loss", "lr", ALIGNMENT}


def test_they_move_no_weight_and_no_other_number(world, watched, tmp_path):
    drive(train(light_trial(selection=LAST), 3, world.materials(), tmp_path), lambda progress: None)
    ours, plain = (load_file(folder / "model" / "model.safetensors") for folder in (watched, tmp_path))
    assert ours.keys() == plain.keys()
    assert all(torch.equal(ours[name], plain[name]) for name in plain)
    seen = {point.t: point.metrics for point in read_result(watched).history}
    for point in read_result(tmp_path).history:
        watched_ones = ("STS-B", "builtin")
        rest = {name: one for name, one in seen[point.t].items() if not name.startswith(watched_ones)}
        assert rest == point.metrics


def test_a_resumed_cell_has_the_same_history(watching, watched, tmp_path):
    """Left after step 9, between two looks, as a process that is killed leaves it; a new one goes on."""
    trial = light_trial(watched=CADENCES, selection=LAST)
    leave_at(8, train(trial, 3, watching, tmp_path, checkpoint_seconds=0.0))
    assert not (tmp_path / "result.json").exists()
    seen = [point.t for point in train(trial, 3, watching, tmp_path)]
    assert 0 not in seen and seen[-1] == 12
    assert read_result(tmp_path).history == read_result(watched).history


def test_what_is_not_defined_is_kept_as_it_was_seen(world, tmp_path):
    """Pairs of which none is alike have no alignment: NaN, through checkpoint and result."""
    unlike = dataclasses.replace(GEOMETRY.pairs, gold=GEOMETRY.pairs.gold * 0)
    (tmp_path / "unlike").mkdir()
    store(AlignmentUniformity(unlike), tmp_path / "unlike")
    materials = dataclasses.replace(world.materials(), watched={"STS-B/geometry": str(tmp_path / "unlike")})
    trial = light_trial(watched={"STS-B/geometry": 2}, selection=LAST, budget={"unit": "steps", "amount": 4})
    leave_at(2, train(trial, 3, materials, tmp_path / "cell", checkpoint_seconds=0.0))
    list(train(trial, 3, materials, tmp_path / "cell"))
    values = [point.metrics.get(ALIGNMENT) for point in read_result(tmp_path / "cell").history]
    assert len(values) == 3 and all(value is not None and math.isnan(value) for value in values)


def test_what_is_watched_how_often_and_on_which_data_makes_another_cell():
    def identity(watched, **fingerprints):
        prints = {"corpus": "c", "base": "b", "dev": "d", **fingerprints}
        dev = builtin.graded_pairs("dev")
        materials = Materials(corpus=Path("corpus"), base="base", dev=dev, fingerprints=prints)
        return identity_of(light_trial(watched=watched), 3, materials)

    one = identity({"STS-B/geometry": 5, "builtin/test": 8}, geometry="g")
    assert one == identity({"builtin/test": 8, "STS-B/geometry": 5}, geometry="g")
    others = [identity({}), identity({"STS-B/geometry": 5}, geometry="g")]
    others += [identity(CADENCES | {"builtin/test": 9}, geometry="g"), identity(CADENCES, geometry="other")]
    assert len({one, *others}) == 5
    plain, watched = light_trial(), light_trial(watched=CADENCES)
    assert {plain: 1, watched: 2}[light_trial(watched=dict(reversed(CADENCES.items())))] == 2
    assert watched.model_dump(mode="json")["watched"] == CADENCES
