"""Outputs of a generator at each step, stored for later cells that need the same."""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Int
from torch import Tensor

from rse_study.results.files.atomic import write_whole

BLOCK = 64  # steps per file; a killed process loses at most one file
LIMIT = 2 * 10**9  # bytes of all folders together, before a cell adds its own
_HASH_BYTES = 32


@dataclass(frozen=True)
class Replacements:
    """The positions where x'' of one step differs from x, and the tokens there."""

    places: Int[Tensor, " n"]
    """flat indices into the batch, row by row"""
    tokens: Int[Tensor, " n"]

    @classmethod
    def of(cls, ids: Int[Tensor, "b l"], edited: Int[Tensor, "b l"]) -> "Replacements":
        places = (edited != ids).flatten().nonzero().squeeze(1)
        return cls(places, edited.flatten()[places])

    def in_place_of(self, ids: Int[Tensor, "b l"]) -> Int[Tensor, "b l"]:
        return ids.flatten().index_copy(0, self.places, self.tokens.to(ids.dtype)).view_as(ids)


Block = dict[int, Replacements]


class GeneratorOutputs:
    """The stored x'' of a cell; a missing or damaged step is computed and written.

    One worker of all cells that agree in everything x'' depends on has the folder; cells write the same
    values at any time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = -1
        self._known: Block = {}
        self._fresh: dict[int, tuple[Tensor, Tensor]] = {}

    def edited(
        self, ids: Int[Tensor, "b l"], step: int, compute: Callable[[], Int[Tensor, "b l"]]
    ) -> Int[Tensor, "b l"]:
        """Return x'' of a step, counted from 0; `compute` makes it if it is not stored."""
        if step // BLOCK != self._number:
            self.flush()
            self._number = step // BLOCK
            self._known = read_block(self._path, ids.device)
        if step in self._known:
            return self._known[step].in_place_of(ids)
        edited = compute()
        self._fresh[step] = (ids, edited)  # compared and copied off the device once a block
        return edited

    def flush(self) -> None:
        """Write what was computed, unless the folder is read-only or a GPU has failed."""
        if not self._fresh:
            return
        pairs, self._fresh = self._fresh, {}
        with suppress(OSError, RuntimeError):
            fresh = {step: Replacements.of(*pair) for step, pair in pairs.items()}
            write_block(self._path, read_block(self._path, torch.device("cpu")) | fresh)

    @property
    def _path(self) -> Path:
        return self._folder / f"{self._number:06d}"


def write_block(path: Path, block: Block) -> None:
    """Write replacements by step: a hash, then four-byte integers."""
    steps = sorted(block)
    counts = [len(block[step].places) for step in steps]
    places, tokens = (
        [getattr(block[step], part).cpu().numpy() for step in steps] for part in ("places", "tokens")
    )
    flat = np.concatenate([np.array([len(steps), *steps, *counts]), *places, *tokens]).astype("<i4").tobytes()
    write_whole(path, hashlib.sha256(flat).digest() + flat)


def read_block(path: Path, device: torch.device) -> Block:
    """Read what `write_block` wrote; empty if the file is missing or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return {}
    if hashlib.sha256(content[_HASH_BYTES:]).digest() != content[:_HASH_BYTES]:
        return {}
    flat = np.frombuffer(content[_HASH_BYTES:], "<i4").astype(np.int64)
    steps, counts, values = np.split(flat[1:], [flat[0], 2 * flat[0]])
    places, tokens = torch.from_numpy(values).to(device).view(2, -1)
    parts = (part.split(counts.tolist()) for part in (places, tokens))
    return {step: Replacements(*pair) for step, *pair in zip(steps.tolist(), *parts, strict=True)}


def make_room(root: Path, folder: Path, limit: int = LIMIT) -> None:
    """Remove the least recently used folders beyond `limit` bytes, but not `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    held = 0
    for other in sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
        held += sum(file.stat().st_size for file in other.iterdir())
        if held > limit and other != folder:
            shutil.rmtree(other, ignore_errors=True)
