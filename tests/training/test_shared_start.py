"""The first point of a cell is measured once for all cells that begin with the same base."""

import dataclasses
import math
import shutil

import pytest
import torch

from rse_study.results.files.atomic import write_sealed
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import train
from rse_study.training.replay import replay
from rse_study.training.session_setup import KIND, scores_of_base
from rse_study.training.session_setup import SCORES_FOLDER as FOLDER
from tests.training.world import light_trial, small_trial

CPU = torch.device("cpu")
SCORES = {"dev": 30.0, "dev/degenerate": 0.0}


@pytest.fixture
def materials(world, tmp_path):
    """With a fingerprint of the dev pairs, and a corpus that lies beside nobody else's."""
    made = world.materials()
    shutil.copytree(made.corpus, tmp_path / "corpus")
    known = made.fingerprints | {"dev": "those of the world", "generator": "one"}
    return dataclasses.replace(made, corpus=tmp_path / "corpus", fingerprints=known)


def scores(trial, materials, given=SCORES, num_workers=1):
    """(scores, how often they were measured)."""
    measured = []

    def measure():
        measured.append(1)
        return given

    return scores_of_base(trial, materials, num_workers, CPU, measure), len(measured)


def test_the_next_cell_reads_what_the_first_one_measured(materials):
    assert scores(small_trial(), materials) == (SCORES, 1)
    for changes in ({"method": {"lambda1": 0.5}}, {"optimizer": {"lr": 1e-4}}, {"batch_size": 8}):
        assert scores(small_trial(**changes), materials, {"dev": 0.0}) == (SCORES, 0)
    elsewhere = dataclasses.replace(materials, fingerprints=materials.fingerprints | {"corpus": "another"})
    assert scores(small_trial(), elsewhere, {"dev": 0.0}) == (SCORES, 0)


def test_other_weights_pairs_workers_or_kernels_are_measured(materials, monkeypatch):
    scores(small_trial(), materials)
    for part in ("base", "dev", "replayed"):
        other = dataclasses.replace(materials, fingerprints=materials.fingerprints | {part: "another"})
        assert scores(small_trial(), other, {"dev": 1.0}) == ({"dev": 1.0}, 1), part
    encoder = {"name": "tiny", "pooling": "cls"}
    for changes in ({"encoder": encoder}, {"precision": "bf16"}, {"compiled": True}):
        assert scores(small_trial(**changes), materials, {"dev": 1.0}) == ({"dev": 1.0}, 1), changes
    assert scores(small_trial(), materials, {"dev": 1.0}, num_workers=2)[1] == 1
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":16:8")
    assert scores(small_trial(), materials, {"dev": 1.0}) == ({"dev": 1.0}, 1)


def test_where_nobody_knows_what_they_hold_nothing_is_shared(materials):
    for unknown in ("base", "dev"):
        prints = {name: one for name, one in materials.fingerprints.items() if name != unknown}
        strange = dataclasses.replace(materials, fingerprints=prints)
        assert [scores(small_trial(), strange)[1] for _ in range(2)] == [1, 1], unknown


def test_convolutions_that_the_seed_draws_are_scored_by_each_cell(materials):
    trial = light_trial(encoder={"name": "small", "pooling": "convolved"})
    assert [scores(trial, materials)[1] for _ in range(2)] == [1, 1]


def test_a_lost_score_and_a_damaged_file_are_measured_again(materials):
    assert math.isnan(scores(small_trial(), materials, {"dev": math.nan})[0]["dev"])
    assert scores(small_trial(), materials) == (SCORES, 1)
    (file,) = (materials.corpus.parent / FOLDER).iterdir()
    file.write_text(file.read_text().replace("30.0", "99.0"))
    assert scores(small_trial(), materials, {"dev": 31.0}) == ({"dev": 31.0}, 1)
    assert scores(small_trial(), materials) == ({"dev": 31.0}, 0)


@pytest.mark.slow
def test_cells_have_the_history_they_would_have_alone(world, materials, tmp_path):
    def history(seed, given, name):
        return [point.metrics for point in train(light_trial(), seed, given, tmp_path / name)]

    alone = [history(seed, world.materials(), f"alone {seed}") for seed in (3, 4)]
    assert [history(seed, materials, f"shared {seed}") for seed in (3, 4)] == alone


def test_a_replay_measures_itself(materials, tmp_path):
    """Whoever asks whether a number is right must not be told what is on file."""
    list(train(light_trial(), 3, materials, tmp_path / "first"))
    (file,) = (materials.corpus.parent / FOLDER).iterdir()
    write_sealed(file, KIND, {"dev": 1.0, "dev/degenerate": 0.0})
    list(train(light_trial(), 3, materials, tmp_path / "misled"))
    recorded = read_result(tmp_path / "misled")
    found = replay(light_trial(), 3, materials, recorded, tmp_path / "again", threads=1)
    assert [(one.t, one.name, one.recorded) for one in found.differences] == [(0, "dev", 1.0)]
