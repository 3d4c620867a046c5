"""Gather and reduce over the workers of a run; alone, everything is the identity."""

from collections.abc import Iterable

from rse_study.tensors import Tensor, torch


class Collectives:
    """One process on its own.

    `distributed.Group()` is the same over torch.distributed's default group.
    """

    rank = 0
    size = 1

    def gather(self, rows: Tensor) -> Tensor:
        """Concatenate rows over workers along dim 0, with gradient.

        The shape is the same on every worker.
        """
        return rows

    def gather_ragged(self, rows: Tensor) -> Tensor:
        """Concatenate along dim 0 where workers hold different numbers of rows.

        No gradient passes.
        """
        return rows.detach()

    def sum(self, x: Tensor) -> Tensor:
        """Sum over workers, with gradient."""
        return x

    def any(self, flag: bool) -> bool:
        """Return True on every worker as soon as one says so."""
        return flag

    def agree(self, number: int, device: "torch.device") -> bool:
        """Whether all hold this number; float64 must hold the sum."""
        where = device if device.type == "cuda" else "cpu"
        mine = torch.tensor(float(number), dtype=torch.float64, device=where)
        return not self.any(float(self.sum(mine)) != number * self.size)

    def all_reduce_gradients(self, parameters: Iterable["torch.nn.Parameter"]) -> None:
        """Sum every `.grad` over workers: flattened, one message, after backward."""


Alone = Collectives
