"""Training-only heads, called with given moments, or None for a view's own."""

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.registry import Registry
from rse_study.tensors import Alone, Collectives


def seeded_linear(
    in_features: int, out_features: int, generator: torch.Generator, bias: bool = True
) -> nn.Linear:
    """Build nn.Linear with its usual bounds U(-1/sqrt(in), 1/sqrt(in)), in float32."""
    linear = nn.utils.skip_init(nn.Linear, in_features, out_features, bias=bias, dtype=torch.float32)
    bound = in_features**-0.5
    for parameter in (linear.weight, linear.bias):
        if parameter is not None:
            drawn = torch.rand(parameter.shape, generator=generator, dtype=torch.float32)
            parameter.data.copy_((2 * drawn - 1) * bound)
    return linear


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


HeadMoments = tuple[Moments, ...]


class _WithoutMoments(nn.Module):
    def update(self, moments: HeadMoments) -> None:
        """Change nothing: this head keeps no running moments."""


class NoHead(_WithoutMoments):
    """A head that returns the pooled vector itself."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        return x, ()


class LinearTanh(_WithoutMoments):
    """tanh(W x + c), SimCSE's training-time pooler."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()
        self.linear = seeded_linear(width, width, generator)

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        return torch.tanh(self.linear(x)), ()


class BatchNormHead(nn.Module):
    """Linear - BN - ReLU - Linear - BN without biases; no affine part in the last BN."""

    def __init__(self, width: int, generator: torch.Generator, collectives: Collectives) -> None:
        super().__init__()
        self.first = seeded_linear(width, width, generator, bias=False)
        self.first_norm = BatchNorm(width, affine=True, collectives=collectives)
        self.second = seeded_linear(width, width, generator, bias=False)
        self.second_norm = BatchNorm(width, affine=False, collectives=collectives)

    def forward(
        self, x: Float[Tensor, "b d"], moments: HeadMoments | None = None
    ) -> tuple[Float[Tensor, "b d"], HeadMoments]:
        """Normalise by x's own moments or the given ones, in train and eval mode alike."""
        first, second = moments if moments is not None else (None, None)
        hidden, used_first = self.first_norm(self.first(x), first)
        y, used_second = self.second_norm(self.second(torch.relu(hidden)), second)
        return y, (used_first, used_second)

    def update(self, moments: HeadMoments) -> None:
        self.first_norm.update(moments[0])
        self.second_norm.update(moments[1])


HEADS: Registry[type[nn.Module]] = Registry(
    "head", {"none": NoHead, "linear_tanh": LinearTanh, "batch_norm": BatchNormHead}
)


def build_head(kind: str, width: int, generator: torch.Generator, collectives: Collectives) -> nn.Module:
    """Build the head called `kind`; `generator` draws its weights in float32."""
    return HEADS.get(kind)(width, generator, collectives)
