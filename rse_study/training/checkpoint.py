"""Checkpoints and models on disk: complete or absent.

Random streams are functions of (seed, name, step), and the position in the data is the step, so neither is saved.
"""

import json
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pydantic import TypeAdapter
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.optim import Optimizer

from rse_study.errors import InputError, first_line
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.export import save_encoder
from rse_study.results.files.atomic import make_folder, replace_folder
from rse_study.results.files.result_file import Point
from rse_study.spec import hash_file
from rse_study.training.trial import Encoder

PARTS = ("networks", "optimizer", "state")
STATE_FILE = "account.json"
CHECKSUMS_FILE = "checksums.json"
Publish = Callable[[str], None]
"""Called with the name of a file or folder of the cell that was written, replaced or removed."""
logger = logging.getLogger(__name__)


def keep_local(name: str) -> None:
    """Do nothing: readers read this folder itself."""


@dataclass
class TrainState:
    """The state of a run apart from its tensors."""

    identity: str
    t: int = 0
    """optimiser steps done"""
    history: list[dict[str, Any]] = field(default_factory=list)
    """points, each with `t` and `metrics`"""
    best: float | None = None
    """dev score of the kept model; None before the first"""
    best_t: int = 0
    seconds: float = 0.0
    """time spent, earlier attempts included"""
    similarity_digits: int | None = None
    """decimals of the cosines by which the whole history was ranked; None in checkpoints older than decision 0016"""
    provenance: dict[str, Any] = field(default_factory=dict)
    """provenance of the newest attempt; empty in checkpoints older than decision 0040"""
    unlike: list[str] = field(default_factory=list)
    """differences between the machines of its workers, or of its attempts"""


def save(
    directory: Path, state: TrainState, networks: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]
) -> None:
    """Write `step-<t>` by one rename, unless it exists; then remove older checkpoints.

    `tensors` are the state that goes on from step to step, by name (V of a method; best weights of a fine-tuning).
    """
    final = directory / f"step-{state.t:09d}"
    if final.exists():
        return
    for abandoned in directory.glob(".step-*"):  # by a process that was killed while it wrote
        shutil.rmtree(abandoned)
    draft = directory / f".{final.name}.{os.getpid()}"
    make_folder(draft)
    parts = (networks.state_dict(), moments(networks, optimizer), tensors)
    for name, part in zip(PARTS, parts, strict=True):
        path = draft / f"{name}.safetensors"
        # Copied to the host, where one part at a time has room: a card has none for weights and moments twice.
        save_file(
            {key: value.detach().to("cpu", copy=True).contiguous() for key, value in part.items()}, path
        )
    (draft / STATE_FILE).write_text(json.dumps(state.__dict__), encoding="utf-8")
    checksums = {path.name: hash_file(path) for path in sorted(draft.iterdir())}
    (draft / CHECKSUMS_FILE).write_text(json.dumps(checksums), encoding="utf-8")
    replace_folder(draft, final)
    for older in _complete(directory)[:-1]:
        shutil.rmtree(older)


def remove(directory: Path) -> None:
    """Remove all checkpoints of a run; those that cannot be removed do no harm."""
    shutil.rmtree(directory, ignore_errors=True)


def latest(directory: Path, *, sets_aside: bool = True) -> Path | None:
    """Return the newest undamaged checkpoint in a folder, if there is one.

    A damaged one is moved to `<folder>.damaged`, for the run goes on without it. Of several workers only one
    `sets_aside`.
    """
    for found in reversed(_complete(directory)):
        if not (damage := _damage_of(found)):
            return found
        if sets_aside:
            aside = directory.with_name(f"{directory.name}.damaged")
            shutil.rmtree(aside, ignore_errors=True)
            found.replace(aside)
            logger.warning("%s: damaged (%s): moved to %s, the run goes on without it", found, damage, aside)
    return None


def read_train_state(checkpoint: Path, identity: str) -> TrainState:
    """Read a checkpoint's state; raise InputError if it is another configuration's."""
    state = _state_in(checkpoint)
    if state.identity != identity:
        raise another_configuration("checkpoint", checkpoint.parent)
    return state


def another_configuration(what: str, folder: Path) -> InputError:
    """Return the error for a folder that holds another cell's file."""
    rule = "a folder belongs to one trial, one seed and one set of data"
    remedy = "Choose another --out, or remove the folder to start anew"
    return InputError(
        f"the {what} here is another configuration's", where=str(folder), rule=rule, remedy=remedy
    )


def restore(
    checkpoint: Path, networks: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]
) -> dict[str, Tensor]:
    """Restore weights and moments in place; return tensors like `tensors`, as saved."""
    try:
        parts = {name: load_file(checkpoint / f"{name}.safetensors") for name in PARTS}
        networks.load_state_dict(parts["networks"])
        put_moments(networks, optimizer, parts["optimizer"])
        return {name: parts["state"][name].to(value) for name, value in tensors.items()}
    except (KeyError, ValueError, RuntimeError, SafetensorError) as error:
        rule = f"its tensors are not those of this configuration ({first_line(error)})"
        remedy = "Remove it: the run begins anew"
        raise InputError("does not fit", where=str(checkpoint), rule=rule, remedy=remedy) from None


def _state_in(checkpoint: Path) -> TrainState:
    """Read a checkpoint's state; raise ValueError if it is none."""
    content = json.loads((checkpoint / STATE_FILE).read_text(encoding="utf-8"))
    state = TypeAdapter(TrainState).validate_python(content)
    if state.t < 0 or not all(Point.model_validate(point) for point in state.history):
        raise ValueError(f"step {state.t}")
    return state


def save_model(directory: Path, encoder: SentenceEncoder, tokenizer: Any, spec: Encoder) -> None:
    """Replace the model in `directory` by the encoder, in float32 and without a head."""
    for abandoned in directory.parent.glob(f".{directory.name}.*"):  # by a process killed while it wrote
        shutil.rmtree(abandoned)
    draft = directory.with_name(f".{directory.name}.{os.getpid()}")
    save_encoder(draft, encoder, tokenizer, spec.template)
    replace_folder(draft, directory)


NUMBER = "()"
"""end of the name of a number in an optimizer's state, which becomes a tensor in a checkpoint"""


def moments(networks: nn.Module, optimizer: Optimizer) -> dict[str, Tensor]:
    """Return an optimizer's state as tensors, by the names of parameters."""
    return {
        f"{name}/{key}{'' if (is_tensor := isinstance(value, Tensor)) else NUMBER}": torch.as_tensor(
            value if is_tensor else np.asarray(value)  # in float64: every bit of a number
        )
        for name, parameter in networks.named_parameters()
        for key, value in optimizer.state.get(parameter, {}).items()
    }


def put_moments(networks: nn.Module, optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    """Restore what `moments` returned, in place."""
    parameters = dict(networks.named_parameters())
    for path, value in tensors.items():
        name, key = path.rsplit("/", 1)
        parameter = parameters[name]
        # AdamW keeps its moments on the parameter's device, its step count there if it is fused, else on the CPU.
        on_device = value.to(parameter.device) if optimizer.defaults.get("fused") else value
        kept = on_device if key == "step" else value.to(parameter.device)
        optimizer.state[parameter][key.removesuffix(NUMBER)] = value.item() if key.endswith(NUMBER) else kept


def _damage_of(checkpoint: Path) -> str:
    """Say what is wrong with a checkpoint; empty if nothing is."""
    try:
        if (checkpoint / CHECKSUMS_FILE).exists():
            checksums = json.loads((checkpoint / CHECKSUMS_FILE).read_bytes())
            changed = [
                name for name, checksum in checksums.items() if hash_file(checkpoint / name) != checksum
            ]
            if changed:
                return f"{changed[0]} is not as it was written"
        _state_in(checkpoint)  # one older than decision 0069 has no checksums
        for name in PARTS:
            with safe_open(checkpoint / f"{name}.safetensors", framework="pt"):
                pass  # it has its whole length
    except (OSError, ValueError, TypeError, AttributeError, RecursionError, SafetensorError) as error:
        return first_line(error)
    return ""


def _complete(directory: Path) -> list[Path]:
    return sorted(directory.glob("step-*"))
