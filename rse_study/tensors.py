"""Deferred torch and shape annotations, and transfer to a GPU.

Layers up to `methods` take torch from here, so that it is imported only to compute. Shapes are checked under pytest,
which has imported jaxtyping by then; otherwise an annotation is the plain type. Axis letters in all signatures: b
sentences of this worker, g sentences of the global batch, l tokens, d features, p positives, k sites, v vocabulary.
Masks are bool, True = real token.
"""

import sys
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

__all__ = ["Bool", "F", "Float", "Float32", "Int", "Int32", "Tensor", "Unchecked", "nn", "sent", "torch"]


def sent(values: Tensor, device: "torch.device") -> Tensor:
    """Copy CPU values to a device without waiting for the GPU."""
    leaves_the_cpu = values.device.type == "cpu" and device.type == "cuda"
    return values.pin_memory().to(device, non_blocking=True) if leaves_the_cpu else values.to(device)
