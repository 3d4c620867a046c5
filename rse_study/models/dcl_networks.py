"""The networks of DCL: an online side that is trained, and its target."""

import copy

import torch
from torch import nn

from rse_study.models.encoder import SentenceEncoder
from rse_study.models.masked_lm_head import MaskedLMHead
from rse_study.models.networks import Networks
from rse_study.models.projection import Projection


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
