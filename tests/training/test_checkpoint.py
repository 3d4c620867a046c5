"""A checkpoint on another device than the one it was written on, and what it takes where it is written."""

from pathlib import Path

import pytest
import torch

from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from tests.simulated_card import simulated_card


@pytest.mark.filterwarnings("ignore:for .* copying from a non-meta parameter")
@pytest.mark.parametrize("is_fused", [True, False])
def test_the_step_count_goes_where_the_optimiser_looks_for_it(tmp_path: Path, is_fused: bool) -> None:
    """A fused AdamW reads it on the parameter's device, the others on the CPU."""
    network = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(network.parameters(), fused=True)
    network(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    checkpoint.save(tmp_path, TrainState("a cell", t=1), network, optimizer, {})
    elsewhere = torch.nn.Linear(2, 1, device="meta")
    other = torch.optim.AdamW(elsewhere.parameters())
    other.defaults["fused"] = is_fused  # torch makes none on a device without a kernel
    saved = checkpoint.latest(tmp_path)
    assert saved is not None
    checkpoint.restore(saved, elsewhere, other, {})
    found = {key: value.device.type for key, value in other.state[elsewhere.weight].items()}
    assert found == {"step": "meta" if is_fused else "cpu", "exp_avg": "meta", "exp_avg_sq": "meta"}


def test_writing_one_takes_no_room_on_the_card(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Weights and moments are three times the weights: a card that trains has no room for them twice."""
    with simulated_card(monkeypatch) as card:
        network = torch.nn.Linear(20, 30).to("cuda")
        optimizer = torch.optim.AdamW(network.parameters())
        network(torch.ones(1, 20, device="cuda")).sum().backward()
        optimizer.step()
        taken = card.num_bytes
        checkpoint.save(
            tmp_path, TrainState("a cell", t=1), network, optimizer, {"V": network.weight.detach()}
        )
        assert card.num_bytes == taken
        saved = checkpoint.latest(tmp_path)
        assert saved is not None
        state = checkpoint.restore(saved, network, optimizer, {"V": network.weight.detach()})
        assert card.lies_there(state["V"])
        assert all(
            card.lies_there(value) for value in optimizer.state[network.weight].values() if value.dim()
        )
