"""DCL's projection and predictor: Linear - norm - ReLU - Linear."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from rse_study.collectives import Collectives
from rse_study.models.batch_norm import BatchNorm
from rse_study.models.initialisation import seeded_linear
from rse_study.models.kinds import NormKind
from rse_study.models.power_norm import PowerNorm


class Projection(nn.Module):
    """A map from [b n] to [b m] through a hidden layer; the norm may be left out."""

    def __init__(
        self,
        width: int,
        hidden: int,
        out: int,
        norm: NormKind,
        generator: torch.Generator,
        collectives: Collectives,
    ) -> None:
        super().__init__()
        self.first = seeded_linear(width, hidden, generator)
        self.norm: Any = _norm(norm, hidden, collectives)
        self.second = seeded_linear(hidden, out, generator)
        self._moments: Any = None

    def forward(self, x: Float[Tensor, "b n"], *, records: bool = False) -> Float[Tensor, "b m"]:
        """Project the rows; with `records`, the next `update` uses this view."""
        hidden = self.first(x)
        if isinstance(self.norm, PowerNorm):
            hidden = self.norm(hidden, records=records)
        elif isinstance(self.norm, BatchNorm):
            hidden, moments = self.norm(hidden)
            self._moments = moments if records else self._moments
        return self.second(torch.relu(hidden))

    def update(self) -> None:
        """Move the running statistics by the recorded view, after its backward pass."""
        if isinstance(self.norm, PowerNorm):
            self.norm.update()
        elif isinstance(self.norm, BatchNorm) and self._moments is not None:
            self.norm.update(self._moments.detach())
            self._moments = None


def _norm(kind: NormKind, width: int, collectives: Collectives) -> nn.Module | None:
    if kind == "power":
        return PowerNorm(width, collectives)
    return BatchNorm(width, affine=True, collectives=collectives) if kind == "batch" else None
