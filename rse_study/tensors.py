"""Deferred torch and shape annotations, transfer to a GPU, and sums over workers.

Layers up to `methods` take torch from here, so that it is imported only to compute. Shapes are checked under pytest,
which has imported jaxtyping by then; otherwise an annotation is the plain type. Axis letters in all signatures: b
sentences of this worker, g sentences of the global batch, l tokens, d features, p positives, k sites, v vocabulary.
Masks are bool, True = real token.
"""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from rse_study.deferred import DeferredModule, DeferredName


class Unchecked:
    """A shape annotation without checks: `Float[Tensor, "b d"]` is Tensor."""

    def __class_getitem__(cls, item: tuple[Any, str]) -> Any:
        return item[0]


if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn
    from torch.nn import functional as F
else:
    torch, nn, F = (DeferredModule(name) for name in ("torch", "torch.nn", "torch.nn.functional"))
    Tensor = DeferredName("torch", "Tensor")

if TYPE_CHECKING or "jaxtyping" in sys.modules:
    from jaxtyping import Bool, Float, Float32, Int, Int32
else:
    Bool = Float = Float32 = Int = Int32 = Unchecked

__all__ = [
    "Alone", "Bool", "Collectives", "F", "Float", "Float32", "Int", "Int32", "Tensor", "Unchecked", "nn", "sent",
    "torch",
]  # fmt: skip


def sent(values: Tensor, device: "torch.device") -> Tensor:
    """Copy CPU values to a device without waiting for the GPU."""
    leaves_the_cpu = values.device.type == "cpu" and device.type == "cuda"
    return values.pin_memory().to(device, non_blocking=True) if leaves_the_cpu else values.to(device)


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
