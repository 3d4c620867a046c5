"""Checkpoints: safetensors and JSON, whole or not there at all.

Streams are functions of (seed, name, step) and the position in the data is the step: neither needs more than
the step itself.
"""

import json
import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from rse_study.errors import InputError
from rse_study.results.atomic import sync

PARTS = ("networks", "optimizer", "state")


@dataclass
class TrainState:
    """Where a run stands, in words: what is not a tensor."""

    identity: str
    t: int = 0  # optimiser steps done
    history: list[dict[str, Any]] = field(default_factory=list)
    best: float | None = None
    best_t: int = 0
    seconds: float = 0.0


def save(
    directory: Path, account: TrainState, networks: nn.Module, optimizer: Optimizer, state: dict[str, Tensor]
) -> None:
    """Write `step-<t>` beside its predecessors by one rename, then remove those. One that is there stays."""
    final = directory / f"step-{account.t:09d}"
    if final.exists():
        return
    for abandoned in directory.glob(".step-*"):  # by a process that was killed while it wrote
        shutil.rmtree(abandoned)
    draft = directory / f".{final.name}.{os.getpid()}"
    draft.mkdir(parents=True)
    parts = (networks.state_dict(), _moments(networks, optimizer), state)
    for name, tensors in zip(PARTS, parts, strict=True):
        path = draft / f"{name}.safetensors"
        save_file({key: value.detach().clone().contiguous() for key, value in tensors.items()}, path)
        sync(path)
    (draft / "account.json").write_text(json.dumps(account.__dict__), encoding="utf-8")
    sync(draft / "account.json")
    draft.rename(final)
    sync(directory)
    for older in _complete(directory)[:-1]:
        shutil.rmtree(older)


def remove(directory: Path) -> None:
    """Remove all checkpoints of a cell that needs none any more. What cannot be removed does no harm."""
    shutil.rmtree(directory, ignore_errors=True)


def latest(directory: Path) -> Path | None:
    """The newest checkpoint in a folder, if there is one."""
    found = _complete(directory)
    return found[-1] if found else None


def read_train_state(checkpoint: Path, identity: str) -> TrainState:
    """The account of a checkpoint. Raises InputError where it belongs to another configuration."""
    account = TrainState(**json.loads((checkpoint / "account.json").read_text(encoding="utf-8")))
    if account.identity != identity:
        raise InputError(
            "the checkpoint here is another configuration's",
            where=str(checkpoint.parent),
            rule="a folder belongs to one trial, one seed and one set of data",
            remedy="Choose another --out, or remove the folder to start anew",
        )
    return account


def restore(
    checkpoint: Path, networks: nn.Module, optimizer: Optimizer, state: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Put weights and optimiser moments back in place and return the run-level state."""
    tensors = {name: load_file(checkpoint / f"{name}.safetensors") for name in PARTS}
    networks.load_state_dict(tensors["networks"])
    _put_moments(networks, optimizer, tensors["optimizer"])
    return {name: tensors["state"][name].to(value) for name, value in state.items()}


def _moments(networks: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    return {
        f"{name}/{key}": value
        for name, parameter in networks.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def _put_moments(networks: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    parameters = dict(networks.named_parameters())
    for path, value in tensors.items():
        name, key = path.rsplit("/", 1)
        # AdamW keeps its step count on the CPU, its moments beside the parameter.
        place = value if key == "step" else value.to(parameters[name])
        optimizer.state[parameters[name]][key] = place


def _complete(directory: Path) -> list[Path]:
    return sorted(directory.glob("step-*"))
