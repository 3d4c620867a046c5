"""Operations that a step launches one by one: a GPU's host pays for each, whatever it computes."""

import dataclasses

import pytest
import torch
from transformers import AutoTokenizer

from benchmarks.counting import Launches
from benchmarks.launches import Phases
from rse_study.tensors import Alone
from rse_study.training.session_setup import open_session
from tests.tiny_models import save_bert
from tests.training.world import small_trial


@pytest.mark.parametrize(("precision", "most"), [("float32", 4150), ("bf16", 5050)])
def test_a_step_of_twelve_layers_launches_few_operations(world, tmp_path, precision, most):
    """RobustSentEmbed, N = 5, without detection; 4,952 and 7,030 before weights were cast once a step."""
    materials = world.materials()
    tokenizer = AutoTokenizer.from_pretrained(materials.base)
    base = save_bert(tmp_path / "base", tokenizer, num_hidden_layers=12, hidden_size=24)
    trial = small_trial(
        method={"lambda2": 0.0},
        encoder={"name": "small", "pooling": "cls"},
        batch_size=8,
        max_length=32,
        precision=precision,
    )
    materials = dataclasses.replace(materials, base=str(base))
    session = open_session(trial, 3, materials, tmp_path / "cell", Alone(), torch.device("cpu"))
    for step in (0, 1):
        session.advance(step)
    with Launches(Phases()) as launches:
        session.advance(2)  # which the history does not report
    assert most / 2 < launches.number <= most
    assert launches.by_phase["inner"] > most / 2
    assert launches.by_phase.keys() == {"inner", "forward", "backward", "after"}
