"""Batch normalisation whose moments are values: computed, returned, handed on.

The inner loop reuses its anchor's, and only `update` moves the running ones. torch's SyncBatchNorm can do neither.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.collectives import Alone, Collectives


class Moments(NamedTuple):
    """Mean and (biased) variance of each feature over the rows of all workers."""

    mean: Tensor
    variance: Tensor
    num_rows: Tensor

    def detach(self) -> "Moments":
        return Moments(*(value.detach() for value in self))


def moments_of(x: Float[Tensor, "b d"], collectives: Collectives) -> Moments:
    """Compute moments over the rows of all workers by centred sums, with gradient."""
    num_rows = collectives.sum(torch.full((), len(x), dtype=x.dtype, device=x.device))
    mean = collectives.sum(x.sum(0)) / num_rows
    variance = collectives.sum((x - mean).square().sum(0)) / num_rows
    return Moments(mean, variance, num_rows)


class BatchNorm(nn.Module):
    """y = (x - mean) / sqrt(variance + epsilon), with gain and bias where `affine`."""

    running_mean: Tensor
    running_variance: Tensor

    def __init__(
        self,
        width: int,
        affine: bool,
        collectives: Collectives | None = None,
        momentum: float = 0.1,
        epsilon: float = 1e-5,
    ) -> None:
        super().__init__()
        self.momentum, self.epsilon = momentum, epsilon
        self.collectives = collectives or Alone()
        self.gain = nn.Parameter(torch.ones(width)) if affine else None
        self.bias = nn.Parameter(torch.zeros(width)) if affine else None
        self.register_buffer("running_mean", torch.zeros(width))
        self.register_buffer("running_variance", torch.ones(width))

    def forward(
        self, x: Float[Tensor, "b d"], moments: Moments | None = None
    ) -> tuple[Float[Tensor, "b d"], Moments]:
        """Return the rows normalised by the given moments or their own, and the moments."""
        x = x.to(torch.promote_types(x.dtype, torch.float32))
        used = moments_of(x, self.collectives) if moments is None else moments
        y = (x - used.mean) * torch.rsqrt(used.variance + self.epsilon)
        if self.gain is not None and self.bias is not None:
            y = y * self.gain + self.bias
        return y, used

    @torch.no_grad()
    def update(self, moments: Moments) -> None:
        """Move the running moments towards these, with the unbiased variance as in torch."""
        n = moments.num_rows
        unbiased = moments.variance * (n / (n - 1).clamp(min=1))
        self.running_mean.lerp_(moments.mean.to(self.running_mean.dtype), self.momentum)
        self.running_variance.lerp_(unbiased.to(self.running_variance.dtype), self.momentum)
