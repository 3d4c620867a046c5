"""Named streams of randomness.

Switching one part of a step off leaves the others' bits alone.
"""

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from rse_study.tensors import torch

NAMES = ("init", "order", "dropout", "delta0", "V", "r", "masks", "rtd", "views", "mlm", "attack")


class Streams:
    """Every draw of a run, seeded by sha256(seed, stream, key).

    Nothing here has state to checkpoint.

    >>> first, again = (Streams(0).generator("init", 1).initial_seed() for _ in range(2))
    >>> first == again != Streams(0).generator("init", 2).initial_seed()
    True
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def generator(self, stream: str, *key: int) -> "torch.Generator":
        """Return a fresh CPU generator of the stream at `key`.

        Keys are the step, the index of the sentence in the global batch, and the like.
        """
        return torch.Generator().manual_seed(self._seed(stream, key))

    def numpy(self, stream: str, *key: int) -> np.random.Generator:
        """Return the same for numpy."""
        return np.random.default_rng(self._seed(stream, key))

    @contextmanager
    def dropout(
        self, step: int, pass_name: str, rank: int, device: "torch.device | None" = None
    ) -> Iterator[None]:
        """Seed torch's global generators for one pass and put them back.

        nn.Dropout takes no generator: this is the one place that touches the global ones.

        Parameters
        ----------
        step
            Optimiser step, counted from 0.
        pass_name
            Passes of one name in one step share their masks.
        rank
            Of this worker.
        device
            Where the pass runs.
        """
        key = self._seed("dropout", (step, pass_name, rank))
        devices = [device] if device is not None and device.type == "cuda" else []
        with torch.random.fork_rng(devices=devices):
            # torch.manual_seed seeds every kind of device there might be, which costs more than many a layer.
            torch.default_generator.manual_seed(key)
            for each in devices:
                with torch.cuda.device(each):
                    torch.cuda.manual_seed(key)
            yield

    def _seed(self, stream: str, key: tuple[int | str, ...]) -> int:
        assert stream in NAMES, stream
        digest = hashlib.sha256(repr((self.seed, stream, *key)).encode()).digest()
        return int.from_bytes(digest[:8], "big") >> 1
