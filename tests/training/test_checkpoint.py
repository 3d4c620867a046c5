"""A checkpoint on another device than the one it was written on, and what it takes where it is written."""

import json
from pathlib import Path

import pytest
import torch

from rse_study.errors import InputError
from rse_study.spec import hash_file
from rse_study.training import checkpoint
from rse_study.training.checkpoint import TrainState
from tests.cases import cases
from tests.simulated_card import simulated_card

FLIPPED = [
    (f"{name}.safetensors", position)
    for name in checkpoint.PARTS
    for position in (4, 10, -1)  # the length of the header, the header, the last tensor
]


@cases(("name", "position"), [*FLIPPED, ("account.json", 3), ("account.json", -2), ("checksums.json", 20)])
def test_one_flipped_bit_is_found_the_checkpoint_set_aside_and_the_one_before_it_taken(
    tmp_path: Path, name: str, position: int
) -> None:
    network = torch.nn.Linear(2, 1)
    optimizer = torch.optim.AdamW(network.parameters())
    network(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    for t in (1, 2):
        checkpoint.save(
            tmp_path / str(t), TrainState("a cell", t=t), network, optimizer, {"V": torch.ones(3)}
        )
    directory = tmp_path / "1"
    (tmp_path / "2" / "step-000000002").rename(directory / "step-000000002")  # as a kill leaves both
    content = bytearray((directory / "step-000000002" / name).read_bytes())
    content[position] ^= 1
    (directory / "step-000000002" / name).write_bytes(content)
    assert checkpoint.latest(directory, sets_aside=False) == directory / "step-000000001"
    assert checkpoint.latest(directory) == directory / "step-000000001"
    assert (tmp_path / "1.damaged" / name).read_bytes() == content
    assert [path.name for path in directory.iterdir()] == ["step-000000001"]


def _saved(folder: Path) -> Path:
    """The checkpoint of a very small network."""
    network = torch.nn.Linear(2, 1)
    checkpoint.save(folder, TrainState("a"), network, torch.optim.AdamW(network.parameters()), {})
    saved = checkpoint.latest(folder)
    assert saved is not None
    return saved


@cases("name", ["networks.safetensors", "account.json"])
def test_a_checkpoint_that_is_cut_short_is_none_even_if_it_is_older_than_checksums(
    tmp_path: Path, name: str
) -> None:
    saved = _saved(tmp_path / "x")
    (saved / checkpoint.CHECKSUMS_FILE).unlink()
    assert checkpoint.latest(tmp_path / "x") == saved
    (saved / name).write_bytes((saved / name).read_bytes()[:-1])
    assert checkpoint.latest(tmp_path / "x") is None
    assert (tmp_path / "x.damaged").is_dir()


def _resealed(checkpoint_folder: Path, name: str, content: bytes) -> None:
    """Another content with the checksum that it has: a stranger's checkpoint."""
    sums = json.loads((checkpoint_folder / checkpoint.CHECKSUMS_FILE).read_bytes())
    (checkpoint_folder / name).write_bytes(content)
    sums[name] = hash_file(checkpoint_folder / name)
    (checkpoint_folder / checkpoint.CHECKSUMS_FILE).write_text(json.dumps(sums))


@cases(
    ("name", "content"),
    [
        ("account.json", b'"a text"'),
        ("account.json", b'{"identity": "a", "t": -1}'),
        ("account.json", b'{"identity": "a", "history": [{"t": 1}]}'),
        ("account.json", b"[" * 100_000),
        ("networks.safetensors", b"\xff" * 100),
    ],
)
def test_what_is_no_checkpoint_is_set_aside_though_its_checksum_agrees(
    tmp_path: Path, name: str, content: bytes
) -> None:
    saved = _saved(tmp_path / "x")
    _resealed(saved, name, content)
    assert checkpoint.latest(tmp_path / "x") is None


def test_tensors_of_another_configuration_are_refused_with_a_remedy(tmp_path: Path) -> None:
    saved, other = _saved(tmp_path), torch.nn.Linear(3, 1)
    with pytest.raises(InputError, match="not those of this configuration") as caught:
        checkpoint.restore(saved, other, torch.optim.AdamW(other.parameters()), {})
    assert caught.value.where == str(saved) and caught.value.remedy


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
