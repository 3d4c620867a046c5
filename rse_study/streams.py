"""Named streams of randomness.

Switching one part of a step off leaves the random bits of the others unchanged.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rse_study.tensors import torch

NAMES = (
    "init", "order", "dropout", "delta0", "V", "r", "masks", "rtd", "views", "negatives", "mlm", "attack", "control",
)  # fmt: skip


class Streams:
    """Source of all of a run's draws, seeded by sha256(seed, stream, key).

    It has no state to checkpoint.

    >>> first, again = (Streams(0).generator("init", 1).initial_seed() for _ in range(2))
    >>> first == again != Streams(0).generator("init", 2).initial_seed()
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def generator(self, stream: str, *key: int) -> "torch.Generator":
        """Return a fresh CPU generator, keyed for example by step and row."""
        return torch.Generator().manual_seed(self._seed(stream, key))

    def numpy(self, stream: str, *key: int) -> np.random.Generator:
        return np.random.default_rng(self._seed(stream, key))

    @contextmanager
    def dropout(
        self, step: int, pass_name: str, rank: int, device: "torch.device | None" = None
    ) -> Iterator[None]:
        """Seed torch's global generators during one pass, and restore them afterwards.

        nn.Dropout takes no generator, so this is the one place that touches the global ones. Passes of one name in one
        step share their masks.
        """
        key = self._seed("dropout", (step, pass_name, rank))
        devices = [device] if device is not None and device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            # torch.manual_seed seeds every kind of device, which costs more than some layers.
            torch.default_generator.manual_seed(key)
            for each in devices:
                with torch.cuda.device(each):
                    torch.cuda.manual_seed(key)
            yield

    def _seed(self, stream: str, key: tuple[int | str, ...]) -> int:
        assert stream in NAMES, stream
        digest = hashlib.sha256(repr((self.seed, stream, *key)).encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1
