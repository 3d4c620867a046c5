"""A watch over a cell's loss: since which step, if any, it is not finite."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rse_study.collectives import Collectives
from rse_study.errors import NonFiniteLoss


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
