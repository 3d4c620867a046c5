"""The arithmetic of training, by its precision."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from rse_study.models.half_weights import HalfWeights

HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}
SCALER = "scaler/"
"""beginning of the names by which a checkpoint holds the scale of fp16"""


class Arithmetic:
    """The arithmetic of one run: float32, tf32, bf16, fp16 or float64.

    Half precisions are autocast: weights, E + delta and every LayerNorm stay float32, matrix products do not. tf32
    rounds the factors of float32 products, on GPUs that have it. fp16 has no room for small gradients: its loss is
    scaled, and a step whose gradients overflow is left out and makes the scale smaller.
    """

    def __init__(self, precision: str, device: torch.device) -> None:
        self._half, self._device = HALVES.get(precision), device
        self._is_tf32 = precision == "tf32"
        self._stand_in: Callable[[], AbstractContextManager[None]] = nullcontext
        self.dtype = torch.float64 if precision == "float64" else torch.float32
        self._scaler = torch.amp.GradScaler(device.type, enabled=precision == "fp16")

    @contextmanager
    def autocast(self) -> Iterator[None]:
        is_half = self._half is not None
        with torch.autocast(self._device.type, self._half, enabled=is_half), self._stand_in():
            yield

    @contextmanager
    def products(self, network: nn.Module | None = None, *, joins: bool = False) -> Iterator[None]:
        """Let the passes of one step use TF32, or weights that are cast once."""
        products = torch.backends.cuda.matmul
        before = products.fp32_precision
        if self._is_tf32:
            products.fp32_precision = "tf32"
        if self._half is not None and network is not None:
            self._stand_in = HalfWeights(network, self._half, joins=joins).standing_in
        try:
            yield
        finally:
            products.fp32_precision, self._stand_in = before, nullcontext

    def descend(
        self,
        loss: Tensor,
        optimizer: Optimizer,
        parameters: Iterable[nn.Parameter],
        max_norm: float,
        reduce: Callable[[], None] = lambda: None,
    ) -> None:
        """Take a step down the loss, its gradient summed by `reduce` and clipped."""
        optimizer.zero_grad()
        self._scaler.scale(loss).backward()
        reduce()
        self._scaler.unscale_(optimizer)
        clip_grad_norm_(parameters, max_norm)
        self._scaler.step(optimizer)
        self._scaler.update()

    def state(self) -> dict[str, Tensor]:
        """Return the scale and the steps since it changed, for a checkpoint."""
        return {SCALER + name: torch.tensor(value) for name, value in self._scaler.state_dict().items()}

    def restore(self, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
        """Take the scale out of a checkpoint's tensors; return the others."""
        own = {
            name.removeprefix(SCALER): value.item()
            for name, value in tensors.items()
            if name.startswith(SCALER)
        }
        if own:
            self._scaler.load_state_dict(own)
        return {name: value for name, value in tensors.items() if not name.startswith(SCALER)}
