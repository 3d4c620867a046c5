"""The arithmetic of training, by its precision, and a watch over the loss."""

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_
from torch.optim import Optimizer

from rse_study.errors import NonFiniteLoss
from rse_study.models.half_weights import HalfWeights
from rse_study.tensors import Collectives

HALVES = {"bf16": torch.bfloat16, "fp16": torch.float16}
SCALER = "scaler/"
"""beginning of the names by which a checkpoint holds the scale of fp16"""


@contextmanager
def torch_threads(number: int) -> Iterator[None]:
    """Compute with so many threads, on whose number the bits of results depend."""
    before = torch.get_num_threads()
    torch.set_num_threads(number)
    try:
        yield
    finally:
        torch.set_num_threads(before)


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


class LossWatch:
    """The first step with a non-finite loss, kept on the device: no step waits for it."""

    def __init__(self, collectives: Collectives, device: torch.device) -> None:
        self._collectives = collectives
        self.is_deferred = device.type == "cuda"
        self._lost_at = torch.zeros((), dtype=torch.long, device=device)
        self._share = torch.zeros((), device=device)

    def note(self, share: Float[Tensor, ""], t: Int[Tensor, ""] | int) -> None:
        """Record this worker's loss of step `t`, from 1, in place."""
        share = share.detach()
        lost = self._collectives.sum((~share.isfinite()).to(self._share.dtype))
        is_first = (lost > 0) & (self._lost_at == 0)
        self._lost_at.copy_(torch.where(is_first, t, self._lost_at))
        self._share.copy_(torch.where(is_first, share, self._share))

    def look(self) -> None:
        """Require all losses so far finite, where that waits for nothing."""
        if not self.is_deferred:
            self.require_finite()

    @property
    def is_lost(self) -> bool:
        """Whether the loss was not finite at some step so far; waits for the device."""
        return bool(self._lost_at)

    def require_finite(self) -> None:
        """Raise NonFiniteLoss on every worker alike if some loss so far was not finite."""
        t, share = int(self._lost_at), float(self._share)
        if t:
            whose = "on another worker" if math.isfinite(share) else f"this worker's share is {share}"
            raise NonFiniteLoss(f"the loss is not finite ({whose})", t)
