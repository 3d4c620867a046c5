"""What a generator made of the batch of each step, kept for the next cell.

It would have the same made again.
"""

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

from rse_study.results.atomic import write_whole

BLOCK = 64  # steps of a file; whoever is killed loses at most as many
LIMIT = 2 * 10**9  # bytes of all folders together, before a cell adds its own
_HASH_BYTES = 32


@dataclass(frozen=True)
class Replacements:
    """Where x'' of one step differs from x, and which tokens are there."""

    places: Int[Tensor, " n"]
    """in the batch, row by row"""
    tokens: Int[Tensor, " n"]

    @classmethod
    def of(cls, ids: Int[Tensor, "b l"], edited: Int[Tensor, "b l"]) -> "Replacements":
        """What makes `edited` of `ids`."""
        places = (edited != ids).flatten().nonzero().squeeze(1)
        return cls(places, edited.flatten()[places])

    def in_place_of(self, ids: Int[Tensor, "b l"]) -> Int[Tensor, "b l"]:
        """Return x''."""
        return ids.flatten().index_copy(0, self.places, self.tokens.to(ids.dtype)).view_as(ids)


Block = dict[int, Replacements]


class GeneratorOutputs:
    """x'' of each step of a cell, read from a folder, or computed and written there.

    Cells that run at the same time write the same. Nobody waits for another: what is not there yet, or is damaged, is
    computed.

    Parameters
    ----------
    folder
        Of one worker of the cells that agree in everything x'' depends on.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._number = -1
        self._known: Block = {}
        self._fresh: dict[int, tuple[Tensor, Tensor]] = {}

    def edited(
        self, ids: Int[Tensor, "b l"], step: int, compute: Callable[[], Int[Tensor, "b l"]]
    ) -> Int[Tensor, "b l"]:
        """Return x'' of a step.

        Parameters
        ----------
        ids
            x.
        step
            Optimiser step, counted from 0.
        compute
            Gives x'' where nobody has computed it yet.
        """
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
        """Write what was computed since the last time.

        A folder that cannot be written stays as it is, and so does one where a GPU has failed.
        """
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
    """Write replacements by step: a hash, then numbers of four bytes."""
    steps = sorted(block)
    counts = [len(block[step].places) for step in steps]
    places, tokens = (
        [getattr(block[step], part).cpu().numpy() for step in steps] for part in ("places", "tokens")
    )
    flat = np.concatenate([np.array([len(steps), *steps, *counts]), *places, *tokens]).astype("<i4").tobytes()
    write_whole(path, hashlib.sha256(flat).digest() + flat)


def read_block(path: Path, device: torch.device) -> Block:
    """What `write_block` wrote; nothing where there is no such file, or a damaged one."""
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
    """Remove the folders that were used longest ago.

    The others hold at most `limit` bytes.

    Parameters
    ----------
    root
        Of all folders.
    folder
        That is used from now on, and stays.
    limit
        In bytes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    folder.touch()
    held = 0
    for other in sorted(root.iterdir(), key=lambda path: path.stat().st_mtime, reverse=True):
        held += sum(file.stat().st_size for file in other.iterdir())
        if held > limit and other != folder:
            shutil.rmtree(other, ignore_errors=True)
