"""Twenty steps of the whole loop whose history is on file: encoder, optimiser, schedule, clipping, dev pairs.

`python -m tests.training.test_golden_history` writes the file anew, once a move is meant.
"""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertForMaskedLM

from rse_study.data import builtin
from rse_study.results.files.result_file import read_result
from rse_study.training.loop import train
from rse_study.training.materials import Materials
from tests.training.world import World, small_trial

FILE = Path(__file__).with_name("golden_history.json")
TRIALS = {
    "steps, mean pooling": {"budget": {"unit": "steps", "amount": 20}},
    "epochs, first and last layer": {
        "encoder": {"name": "small", "pooling": "first_last"},
        "budget": {"unit": "epochs", "amount": 3},
        "optimizer": {"lr": 2e-3, "weight_decay": 0.1, "max_norm": 0.5},
        "method": {"token_level": {"redraw": "epoch"}, "lambda2": 0.0},
    },
}


def drawn(root: Path) -> Materials:
    """A world whose weights are NumPy's: torch and transformers may change how they draw theirs."""
    materials = World(root, builtin.corpus(0, 120)).materials(dropout=0.0)
    materials = replace(materials, dev=builtin.graded_pairs("dev"))
    model, generator = BertForMaskedLM.from_pretrained(materials.base), np.random.default_rng(0)
    with torch.no_grad():
        for name, parameter in sorted(model.named_parameters()):
            centre = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            parameter.copy_(torch.from_numpy(centre + 0.3 * generator.standard_normal(parameter.shape)))
    model.save_pretrained(materials.base)
    AutoTokenizer.from_pretrained(materials.base).save_pretrained(materials.base)
    return materials


def history(name: str, root: Path) -> list[dict]:
    trial = small_trial(precision="float64", **TRIALS[name])
    list(train(trial, 3, drawn(root), root / "cell"))
    return [{"t": point.t, **point.metrics} for point in read_result(root / "cell").history]


@pytest.mark.parametrize("name", TRIALS)
def test_history_is_the_one_on_file(name: str, tmp_path: Path) -> None:
    expected, found = json.loads(FILE.read_text())[name], history(name, tmp_path)
    assert [point["t"] for point in found] == [point["t"] for point in expected]
    apart = [abs(new[key] - old[key]) for new, old in zip(found, expected, strict=True) for key in old]
    assert max(apart) <= 1e-10, f"metrics moved by {max(apart):.3g}: bump semantics or revert"


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as root:
        written = {name: history(name, Path(root) / str(i)) for i, name in enumerate(TRIALS)}
    FILE.write_text(json.dumps(written, indent=1) + "\n")
