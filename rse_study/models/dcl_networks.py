"""The networks of DCL: an online side that is trained, and its target."""

import copy
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from rse_study.collectives import Collectives
from rse_study.models.batch_norm import BatchNorm
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.initialisation import seeded_linear
from rse_study.models.kinds import NormKind
from rse_study.models.networks import Networks
from rse_study.models.power_norm import PowerNorm


class Projection(nn.Module):
    """DCL's projection and predictor, [b n] to [b m]: Linear - norm - ReLU - Linear.

    The norm may be left out.
    """

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


class MaskedLMHead(nn.Module):
    """BERT's masked-LM head, for encoders without one, tied to the word embeddings.

    logits = E LayerNorm(GELU(W h + c)) + bias, with E given (Devlin et al. 2019).
    """

    def __init__(self, hidden: int, embedding: int, vocabulary: int, generator: torch.Generator) -> None:
        super().__init__()
        self.transform = seeded_linear(hidden, embedding, generator)
        self.norm = nn.LayerNorm(embedding)
        self.bias = nn.Parameter(torch.zeros(vocabulary))

    def forward(self, hidden: Float[Tensor, "m h"], table: Float[Tensor, "v e"]) -> Float[Tensor, "m v"]:
        return self.norm(F.gelu(self.transform(hidden))) @ table.T + self.bias


class TargetNetwork(nn.Module):
    """A copy of encoder and projection that follows them by a moving average."""

    def __init__(self, encoder: SentenceEncoder, projection: Projection) -> None:
        super().__init__()
        self.encoder, self.projection = copy.deepcopy(encoder), copy.deepcopy(projection)
        self.requires_grad_(False)

    @torch.no_grad()
    def follow(self, networks: "DCLNetworks", decay: float) -> None:
        """Move the weights, xi <- decay xi + (1 - decay) theta (eq 7); copy the buffers."""
        pairs = ((self.encoder, networks.encoder), (self.projection, networks.head))
        for mine, theirs in pairs:
            torch._foreach_lerp_(list(mine.parameters()), list(theirs.parameters()), 1 - decay)
            for kept, new in zip(mine.buffers(), theirs.buffers(), strict=True):
                kept.copy_(new)


class DCLNetworks(Networks):
    """The encoder, projection (the head), predictor, masked-LM head and target of DCL."""

    def __init__(
        self,
        encoder: SentenceEncoder,
        projection: Projection,
        predictor: Projection,
        masked_lm: MaskedLMHead | None,
    ) -> None:
        super().__init__(encoder, projection)
        self.predictor = predictor
        self.masked_lm = masked_lm
        self.target = TargetNetwork(encoder, projection)
