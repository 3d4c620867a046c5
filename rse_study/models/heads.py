"""Training-only heads, called with given moments, or None for a view's own."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.collectives import Collectives
from rse_study.models.batch_norm import BatchNorm, Moments
from rse_study.models.initialisation import seeded_linear
from rse_study.registry import Registry

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
