"""Losses of a fine-tuning in float64: where they move, bump FineTuning's semantics or put it back.

`python -m tests.training.classifier.test_golden` prints them anew, once a move is meant.
"""

import tempfile
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertModel

from rse_study.training.checkpoint import TrainState
from rse_study.training.classifier.data import split_off
from rse_study.training.classifier.run import TuningRun, open_run
from tests.training.classifier.sorted_words import LEARNS, ordered_pairs, small_base

GOLDEN = [
    0.946348581842,
    0.612735349982,
    0.731169317975,
    0.823557168897,
    0.600430520556,
    0.715013313366,
    0.670507764590,
    0.650060677609,
    0.658934670224,
    0.636387784099,
    0.589691687174,
    0.701532008459,
    0.606824990501,
    0.661401640763,
    0.657241382439,
    0.719661859663,
    0.728344134276,
    0.649082942699,
    0.718747692227,
    0.730925947039,
]
SPEC = LEARNS.model_copy(update={"dropout": 0.0, "lr": 1e-3})


def _run(folder: Path) -> TuningRun:
    """Weights are NumPy's and there is no dropout: torch may change how it draws."""
    start = small_base(folder)
    model = BertModel.from_pretrained(folder, add_pooling_layer=False)
    model.config.hidden_dropout_prob = model.config.attention_probs_dropout_prob = 0.0
    model.save_pretrained(folder)
    data = split_off(ordered_pairs(), SPEC)
    run, drawn = open_run(SPEC, 0, start, data, torch.device("cpu")), np.random.default_rng(0)
    run.network.double()
    with torch.no_grad():
        for name, parameter in sorted(run.network.named_parameters()):
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(torch.from_numpy(centre + 0.3 * drawn.standard_normal(parameter.shape)))
    return run


def _losses(folder: Path) -> list[float]:
    run, state = _run(folder), TrainState("golden")
    return [run.advance(state).item() for _ in range(20)]


def test_the_losses_of_twenty_steps(tmp_path):
    assert _losses(tmp_path) == pytest.approx(GOLDEN, abs=1e-10)
    assert SPEC.semantics == 1


if __name__ == "__main__":
    print(*(f"{loss:.12f}," for loss in _losses(Path(tempfile.mkdtemp()))), sep="\n")
