"""Recorded steps on a card, against ordinary ones of the same shapes: a CUDA graph in place of the simulated one."""

import pytest
import torch

from rse_study.tensors import Alone
from rse_study.training.session_setup import open_session
from tests.training.world import small_trial

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")


@pytest.mark.parametrize("precision", ["float32", "bf16"])
@pytest.mark.parametrize("dropout", [0.0, 0.1])
def test_twenty_recorded_steps_are_twenty_ordinary_ones(world, tmp_path, precision, dropout):
    """But for the order of atomic additions."""
    budget = {"unit": "steps", "amount": 20}
    trial = small_trial(graphed=True, precision=precision, budget=budget, report_every=20)
    found = []
    for is_recorded in (True, False):
        device, folder = torch.device("cuda"), tmp_path / f"{is_recorded}"
        session = open_session(trial, 3, world.materials(dropout=dropout), folder, Alone(), device)
        session.recorder = session.recorder if is_recorded else None
        losses = torch.stack([session.advance(step).loss.detach().double().clone() for step in range(20)])
        found.append((losses.cpu(), len(session.recorded_step.recordings)))
    (recorded, num_recordings), (ordinary, none) = found
    assert num_recordings > none == 0
    assert recorded[0].item() == pytest.approx(ordinary[0].item(), rel=1e-6)
    assert recorded.tolist() == pytest.approx(ordinary.tolist(), rel=1e-3 if precision == "float32" else 1e-2)
