"""Random batches of texts of similar length, which saves up to half the padding."""

from functools import lru_cache

import torch

from rse_study.streams import Streams

POOL = 16  # batches sorted by length together


class LengthBatches:
    """Every row once an epoch: a fresh permutation, cut into pools sorted by length."""

    def __init__(self, lengths: list[int], batch_size: int, streams: Streams) -> None:
        self.lengths, self.batch_size, self._streams = lengths, batch_size, streams
        self.num_batches = -(-len(lengths) // batch_size)
        self._epoch = lru_cache(maxsize=1)(self._draw_epoch)

    def rows(self, step: int) -> list[int]:
        """Return the rows in the batch of a step; one batch per epoch may be smaller."""
        epoch, position = divmod(step, self.num_batches)
        return self._epoch(epoch)[position]

    def _draw_epoch(self, epoch: int) -> list[list[int]]:
        pool = POOL * self.batch_size
        whole = torch.randperm(len(self.lengths), generator=self._streams.generator("order", epoch)).tolist()
        pools = [
            sorted(whole[i : i + pool], key=self.lengths.__getitem__) for i in range(0, len(whole), pool)
        ]
        batches = [p[i : i + self.batch_size] for p in pools for i in range(0, len(p), self.batch_size)]
        order = torch.randperm(len(batches), generator=self._streams.generator("order", epoch, 1))
        return [batches[i] for i in order.tolist()]
