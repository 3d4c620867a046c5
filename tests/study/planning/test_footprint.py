"""What a study takes of disk and memory, beside what cells really wrote."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from safetensors.torch import load_file

from rse_study.data import builtin
from rse_study.data.labelled import Labelled
from rse_study.downstream import Attacks, Settings
from rse_study.downstream.attacked_classifier import AttackedClassifier
from rse_study.errors import InputError
from rse_study.study.definition.parts import Resources
from rse_study.study.planning import footprint as of_footprints
from rse_study.study.planning.data_sizes import PASSES, READ_PER_INPUT, DataSizes, sentences_of
from rse_study.study.planning.footprint import (
    BERT_BASE,
    GB,
    Footprint,
    cell_size,
    cells_at_a_time,
    disk_too_small,
    encoder_shape,
    footprint,
    lines_of,
    missing_gpu,
)
from rse_study.training.classifier import FineTuning
from rse_study.training.loop import drive, train
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.on_ray.world import make_materials
from tests.study.planning.priced import grid_of
from tests.training.world import SIMCSE, World, small_trial, stop_at

GRID = {"axes": {"rho": [0, 0.5, 1]}}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120))


@pytest.mark.parametrize("method", [{}, SIMCSE, *({"name": name} for name in ("dcl", "ct", "sg_opt"))])
def test_a_checkpoint_and_a_model_have_the_bytes_that_their_shape_tells(world, method):
    materials, changes = world.materials(), {"method": method} if method else {}
    trial, folder = small_trial(**changes), world.root / f"sized-{method.get('name', len(method))}"
    drive(train(trial, 3, materials, folder, checkpoint_seconds=0), stop_at(5))
    said = cell_size(trial, encoder_shape(materials.base), 1)
    for written, expected in ((folder / "checkpoint", said.checkpoint), (folder / "model", said.model)):
        tensors = (load_file(one) for one in written.rglob("*.safetensors"))
        found = sum(tensor.nbytes for part in tensors for tensor in part.values())
        assert found == pytest.approx(expected, rel=0.03), written.name


def test_bert_base_takes_what_was_measured():
    # docs/results/plan.md: 436 MB a model, 1.4 GB a checkpoint without D and 2.4 with it.
    whole, without = (cell_size(Trial(method={"lambda2": value}), BERT_BASE) for value in (0.005, 0))
    assert whole.model == pytest.approx(0.436 * GB, rel=0.01)
    assert whole.checkpoint == pytest.approx(2.43 * GB, rel=0.01)
    assert without.checkpoint == pytest.approx(1.40 * GB, rel=0.01)
    smaller = cell_size(Trial(chunk_size=8), BERT_BASE)
    assert (smaller.weights, smaller.activations) == (whole.weights, whole.activations / 8)
    assert cell_size(Trial(), BERT_BASE, workers=4).activations == whole.activations / 4
    deeper = replace(BERT_BASE, layers=24)
    assert cell_size(Trial(), deeper).activations == 2 * whole.activations


def test_the_memory_is_that_of_the_largest_batch(content, tmp_path):
    checked = grid_of(content, {"axes": {"batch_size": [16, 32, 64, 128]}})
    found = footprint(checked, 8, DataSizes(tmp_path))
    assert found.cell == cell_size(checked.rows[-1].trial, encoder_shape("tiny"))


@cases(
    ("changes", "num_models", "num_checkpoints"),
    [
        ({}, 6, 4),
        ({"keep_models": "best"}, 3, 4),  # two that run, and the best
        ({"keep_models": "none"}, 2, 4),
        ({"keep_models": "none", "evaluations": ["attack-mr/pwws"]}, 6, 4),  # until they are attacked
        ({"resources": {"max_concurrent": 1}}, 6, 2),
    ],
)
def test_models_are_counted_by_what_is_kept(content, tmp_path, changes, num_models, num_checkpoints):
    checked = grid_of(content, GRID, seeds=[0, 1], **changes)
    found = footprint(checked, 6, DataSizes(tmp_path), 1 if "resources" in changes else 2)
    assert (found.num_models, found.num_checkpoints) == (num_models, num_checkpoints)
    assert found.disk == pytest.approx(
        num_models * found.cell.model + num_checkpoints * found.cell.checkpoint + found.ledger
    )


@pytest.fixture
def machine(monkeypatch):
    def of(num_cores, num_gpus):
        monkeypatch.setattr(of_footprints.os, "cpu_count", lambda: num_cores)
        monkeypatch.setattr(of_footprints, "num_gpus", lambda: num_gpus)

    return of


@cases(
    ("cores", "gpus", "cell", "expected"),
    [
        (16, 1, {"gpus": 1}, 1),
        (16, 1, {"gpus": 0.2}, 5),
        (16, 1, {"gpus": 0.3}, 3),
        (16, 3, {"gpus": 0.3}, 9),  # not ten: a part is never combined from two GPUs
        (16, 2, {"gpus": 0.6}, 2),
        (16, 1, {"gpus": 0.08}, 12),
        (16, 8, {"gpus": 0.08}, 16),  # a core for each
        (4, 1, {"gpus": 0.2}, 4),
        (16, 1, {"gpus": 0.2, "threads": 4}, 4),
        (16, 8, {"gpus": 1, "threads": 4}, 4),
        (16, 8, {"gpus": 1, "workers": 3}, 2),
        (16, 1, {"gpus": 0.2, "max_concurrent": 2}, 2),
        (16, 0, {"gpus": 0.2}, 0),
        (16, 1, {"gpus": 1e-320}, 16),
        (2, 1, {"gpus": 0.2, "threads": 4}, 0),
        (16, 0, {"threads": 5}, 3),
        (16, 0, {"workers": 2, "threads": 3}, 2),
    ],
)
def test_cells_have_their_parts_of_gpus_and_cores_of_their_own(machine, cores, gpus, cell, expected):
    machine(cores, gpus)
    assert cells_at_a_time(Resources(**cell)) == expected


def test_a_plan_says_what_sharing_cells_need_and_whether_one_fits_at_all(machine, content, tmp_path):
    checked = grid_of(content, GRID, seeds=[0, 1, 2, 3], resources={"gpus": 0.2})
    machine(16, 1)
    five = footprint(checked, 12, DataSizes(tmp_path))
    disk, _, memory = lines_of(five)
    assert "10 checkpoints" in disk and "(5 cells at a time on this machine)" in disk
    assert memory == f"memory of a GPU: {5 * five.cell.memory / 1e6:.3g} MB for 5 cells, which may share it"
    machine(16, 0)
    disk, *_ = lines_of(footprint(checked, 12, DataSizes(tmp_path)))
    assert " 2 checkpoints" in disk and "(1 cell at a time: none fits on this machine)" in disk
    machine(16, 1)
    alone = grid_of(content, GRID, resources={"gpus": 1})
    assert len(list(lines_of(footprint(alone, 3, DataSizes(tmp_path))))) == 2


def test_a_study_that_asks_for_a_gpu_learns_that_there_is_none(machine, content):
    machine(16, 0)
    problem = missing_gpu(grid_of(content, GRID, resources={"gpus": 1}))
    assert str(problem).startswith(
        "a.yaml: resources.gpus = 1: this machine has no GPU. Run it where there is one"
    )
    assert missing_gpu(grid_of(content, GRID)) is None
    machine(16, 1)
    assert missing_gpu(grid_of(content, GRID, resources={"gpus": 1})) is None


def test_a_disk_that_may_be_filled_is_warned_of(monkeypatch, content, tmp_path):
    checked = grid_of(content, GRID)
    wanted, disk = footprint(checked, 3, DataSizes(tmp_path)), shutil.disk_usage("/")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=1_000_000))
    assert disk_too_small(checked.study, wanted, tmp_path / "new").startswith(
        f"only 1 MB are free in {tmp_path}/new"
    )
    away = checked.study.model_copy(update={"storage": "s3://bucket/studies"})
    assert disk_too_small(away, wanted, tmp_path) == disk_too_small(checked.study, None, tmp_path) == ""
    monkeypatch.setattr(shutil, "disk_usage", lambda path: disk._replace(free=10**12))
    assert disk_too_small(checked.study, wanted, tmp_path) == ""


def test_an_encoder_that_nobody_knows_here_has_no_footprint(content, tmp_path):
    base = content["base"] | {"encoder": {"name": "somebody/else", "pooling": "mean"}}
    assert footprint(grid_of(content | {"base": base}, GRID), 3, DataSizes(tmp_path)) is None
    assert isinstance(footprint(grid_of(content, GRID), 3, DataSizes(tmp_path)), Footprint)


# Steps of budgets that count epochs.


@pytest.fixture
def num_steps(content, tmp_path):
    sizes = DataSizes(tmp_path)

    def of(**changes):
        return sizes.num_steps(Trial.model_validate({**content["base"], **changes})), sizes.supposed

    return of


def test_epochs_drop_the_incomplete_batch_of_the_distinct_sentences_of_their_corpus(num_steps, tmp_path):
    epochs = {"unit": "epochs", "amount": 3}
    assert num_steps(budget={"unit": "steps", "amount": 60}) == (60, [])
    assert num_steps(budget=epochs) == (3 * 250, [])
    assert num_steps(budget=epochs, corpus={"source": "builtin", "limit": 100}) == (3 * 3, [])
    (tmp_path / "c.txt").write_text("\n".join(f"sentence {i % 70}" for i in range(200)))
    assert num_steps(budget=epochs, corpus={"source": "c.txt"}) == (3 * 2, [])


def test_what_was_prepared_is_not_read_again_to_be_counted(content, tmp_path):
    corpus = {"source": "not/here.txt"}
    trial = Trial.model_validate(
        content["base"] | {"budget": {"unit": "epochs", "amount": 2}, "corpus": corpus}
    )
    materials, sizes = replace(make_materials(tmp_path), num_sentences=320), DataSizes(tmp_path)
    assert sizes.counting(lambda trial: materials)(trial) is materials
    assert sizes.num_steps(trial) == 2 * 320 / 32


def test_a_corpus_that_is_not_here_counts_as_its_limit_and_without_one_is_refused(num_steps):
    epochs = {"unit": "epochs", "amount": 2}
    steps, (said,) = num_steps(budget=epochs, corpus={"source": "not/here.txt", "limit": 6400})
    assert steps == 2 * 6400 / 32
    assert "not/here.txt is not here: assumed to hold 6,400 sentences" in said
    with pytest.raises(InputError, match="no such file"):
        num_steps(budget=epochs, corpus={"source": "not/here.txt"})


TEN_WORDS = "a text of ten words that is read as one"


def attack(recipe, num_words=10, **changes):
    texts = [(" ".join(TEN_WORDS.split() * (num_words // 10)),)] * 8
    labels = np.array([0, 1] * 4)
    inputs = Labelled("attack-toy", "test", texts[:4], labels[:4], ("bad", "good"))
    training = Labelled("toy", "train", texts, labels, ("bad", "good"))
    settings = Settings(Attacks(**changes), FineTuning(epochs=2))
    return AttackedClassifier(inputs, training, recipe, settings, None, "")


def test_queries_and_what_each_reads_grow_with_the_words_of_an_input():
    tuned = PASSES * 2 * 8
    assert sentences_of([attack("pwws")]) == pytest.approx(tuned + 4 * READ_PER_INPUT["pwws"])
    assert sentences_of([attack("pwws", 20)]) == pytest.approx(2 * tuned + 4 * 4 * READ_PER_INPUT["pwws"])


def test_recipes_on_one_set_share_its_classifier_and_a_probe_reads_the_texts_once():
    both = sentences_of([attack("pwws"), attack("bae")])
    assert both == pytest.approx(PASSES * 2 * 8 + 4 * (READ_PER_INPUT["pwws"] + READ_PER_INPUT["bae"]))
    probe = sentences_of([attack("pwws", classifier="probe")])
    assert probe == pytest.approx(8 + 4 * READ_PER_INPUT["pwws"])
