"""Norms, projections and matched lengths, over the last axis of a tensor.

>>> import torch
>>> x = torch.tensor([3.0, 4.0])
>>> norm_of(x, "l2"), project(x, "l2", torch.tensor([1.0]))
(tensor([5.]), tensor([0.6000, 0.8000]))
"""

from typing import Literal

from rse_study.tensors import Float, Tensor, torch

Norm = Literal["l1", "l2", "linf"]
ORDER: dict[str, float] = {"l1": 1.0, "l2": 2.0, "linf": float("inf")}


def norm_of(x: Float[Tensor, "*batch n"], norm: Norm) -> Float[Tensor, "*batch 1"]:
    """Return ||x||_P over the last axis, which is kept."""
    return torch.linalg.vector_norm(x, ORDER[norm], dim=-1, keepdim=True)


def unit(g: Float[Tensor, "*batch n"], norm: Norm) -> Float[Tensor, "*batch n"]:
    """Return g / ||g||_P (RobustSentEmbed eqs 3, 5), without epsilon; 0 at norm 0."""
    length = norm_of(g, norm)
    return g / length.masked_fill(length == 0, 1)


def project(
    x: Float[Tensor, "*batch n"], norm: Norm, radius: Float[Tensor, "*#batch 1"]
) -> Float[Tensor, "*batch n"]:
    """Move x to the nearest point (Euclidean) of the ball ||.||_P <= radius."""
    if norm == "linf":
        return torch.minimum(torch.maximum(x, -radius), radius)
    if norm == "l2":
        return rescale(x, norm, radius)
    return _project_l1(x, radius)


def rescale(
    x: Float[Tensor, "*batch n"], norm: Norm, radius: Float[Tensor, "*#batch 1"]
) -> Float[Tensor, "*batch n"]:
    """Shorten x radially to the ball; for l1 and linf not the nearest point."""
    length = norm_of(x, norm)
    return torch.where(length > radius, x * (radius / torch.where(length > 0, length, 1)), x)


def matched(
    length: float, given_for: Norm, norm: Norm, n: Float[Tensor, "*batch"]
) -> Float[Tensor, "*batch"]:
    """Convert a length from norm Q (`given_for`) to norm P: length * n^(1/P - 1/Q).

    n is the number of coordinates: a vector with entries of one size keeps that size.
    """
    exponent = 1 / ORDER[norm] - 1 / ORDER[given_for]
    return length * n.clamp(min=1) ** exponent


def _project_l1(
    x: Float[Tensor, "*batch n"], radius: Float[Tensor, "*#batch 1"]
) -> Float[Tensor, "*batch n"]:
    """Project onto the l1 ball by a sort (Duchi et al. 2008): soft threshold theta."""
    magnitude = x.abs()
    descending = magnitude.sort(dim=-1, descending=True).values
    count = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    threshold = (descending.cumsum(-1) - radius) / count
    last = ((descending > threshold).sum(-1, keepdim=True) - 1).clamp(min=0)
    theta = threshold.gather(-1, last)
    shrunk = x.sign() * (magnitude - theta).clamp(min=0)
    return torch.where(magnitude.sum(-1, keepdim=True) > radius, shrunk, x)
