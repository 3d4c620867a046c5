"""Gather and reduce over a run's workers; the identity if there is only one."""

from collections.abc import Callable, Iterable

from rse_study.tensors import Tensor, torch


class Collectives:
    """A single process; `distributed.Group()` does the same over torch.distributed."""

    rank = 0
    size = 1

    def gather(self, rows: Tensor) -> Tensor:
        """Concatenate rows over workers along dim 0, with gradient; shapes must be equal."""
        return rows

    def gather_ragged(self, rows: Tensor) -> Tensor:
        """Concatenate different numbers of rows along dim 0, without gradient."""
        return rows.detach()

    def sum(self, x: Tensor) -> Tensor:
        """Sum over workers, with gradient."""
        return x

    def any(self, flag: bool) -> bool:
        """Whether the flag is set on any worker."""
        return flag

    def agree(self, number: int, device: "torch.device") -> bool:
        """Whether all workers have this number; float64 must represent the sum exactly."""
        where = device if device.type == "cuda" else "cpu"
        mine = torch.tensor(float(number), dtype=torch.float64, device=where)
        return not self.any(float(self.sum(mine)) != number * self.size)

    def summing_gradients(self, parameters: Iterable["torch.nn.Parameter"]) -> Callable[[], None]:
        """Sum every `.grad` of the next backward over workers; call the result after it."""
        return lambda: None


Alone = Collectives
