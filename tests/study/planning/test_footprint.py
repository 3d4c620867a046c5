"""What a study takes of disk and memory, beside what cells really wrote."""

from dataclasses import replace
from typing import get_args

import pytest
from safetensors.torch import load_file

from rse_study.data import builtin
from rse_study.study.planning.data_sizes import DataSizes
from rse_study.study.planning.footprint import BERT_BASE, GB, Footprint, cell_size, encoder_shape, footprint
from rse_study.training.loop import drive, train
from rse_study.training.trial import Trial
from tests.cases import cases
from tests.study.planning.priced import grid_of, search_of
from tests.training.world import SIMCSE, World, small_trial, stop_at

GRID = {"axes": {"rho": [0, 0.5, 1]}}


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    return World(tmp_path_factory.mktemp("world"), builtin.corpus(0, 120))


@pytest.mark.parametrize("method", [{}, SIMCSE, {"name": "dcl"}])
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


def test_a_search_holds_checkpoints_of_stopped_trials_and_models_of_confirmed_ones(content, tmp_path):
    checked = search_of(content, keep_models="best")
    found = footprint(checked, 20, DataSizes(tmp_path), 2)
    num_confirmed = 2 * len(checked.study.confirm.seeds)
    assert found.num_models == 2 + num_confirmed
    assert 2 * 2 < found.num_checkpoints < 2 * 2 + 20  # not all are stopped
    assert footprint(search_of(content, early_stopping=None), 20, DataSizes(tmp_path), 2).num_checkpoints == 4


def test_every_precision_has_a_size():
    for precision in get_args(Trial.model_fields["precision"].annotation):
        assert cell_size(small_trial(precision=precision), BERT_BASE).activations > 0, precision


def test_a_rule_by_class_may_stop_every_trial(content, tmp_path):
    rule = {"class": "optuna.pruners:MedianPruner", "first": 15, "every": 15}
    checked = search_of(content, num_trials=6, early_stopping=rule, confirm=None)
    found = footprint(checked, 6, DataSizes(tmp_path), 1)
    assert found.num_checkpoints == 2 + 6


def test_an_encoder_that_nobody_knows_here_has_no_footprint(content, tmp_path):
    base = content["base"] | {"encoder": {"name": "somebody/else", "pooling": "mean"}}
    assert footprint(grid_of(content | {"base": base}, GRID), 3, DataSizes(tmp_path)) is None
    assert isinstance(footprint(grid_of(content, GRID), 3, DataSizes(tmp_path)), Footprint)
