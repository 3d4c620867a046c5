"""The formulas of the plain transcription, one function each."""

import math
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor


def contrastive_loss(
    z: Float[Tensor, "b d"],
    positives: Sequence[Float[Tensor, "b d"]],
    others: Float[Tensor, "b d"],
    temperature: float,
) -> Tensor:
    """Return the loss of eq. 9, averaged over the batch.

    -log(own positives / (own positives + negatives)), with the `others` (z_pos) of other sentences as negatives and
    tau as temperature.
    """
    own = sum(torch.exp(F.cosine_similarity(z, positive) / temperature) for positive in positives)
    similarity = F.cosine_similarity(z[:, None], others[None], dim=-1)  # [b b], through [b b d]
    is_own = torch.eye(len(z), dtype=torch.bool, device=z.device)
    negatives = torch.exp(similarity / temperature).masked_fill(is_own, 0.0).sum(1)
    return -torch.log(own / (own + negatives)).mean()


def unit(gradient: Float[Tensor, "b l d"], scope: tuple[int, ...]) -> Float[Tensor, "b l d"]:
    """Return g/||g|| for linf over the axes of `scope`; 0 where g is 0."""
    norm = gradient.abs().amax(scope, keepdim=True)
    return torch.where(norm > 0, gradient / norm, 0.0)


def token_shares(eta: Float[Tensor, "b l d"]) -> Float[Tensor, "b l 1"]:
    """Return n_i = ||eta_i|| / max_j ||eta_j|| for linf (eq. 2); 1 where all are 0."""
    norms = eta.abs().amax(-1, keepdim=True)
    largest = norms.amax(1, keepdim=True)
    return torch.where(largest > 0, norms / largest, 1.0)


def uniform(shape: tuple[int, ...], sigma: float, like: Tensor) -> Tensor:
    """Draw from U(-sigma, sigma)/sqrt(d), as delta0 and V begin; d is the last axis.

    Type and device are those of `like`.
    """
    return (2 * torch.rand(shape, dtype=like.dtype, device=like.device) - 1) * sigma / math.sqrt(shape[-1])
