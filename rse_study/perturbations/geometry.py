"""Norms and projections over the last axis of a tensor, and noise keyed by row."""

from collections.abc import Callable
from typing import Literal

from rse_study.data.batches import Batch
from rse_study.perturbations.ascent import Anchor
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor, torch

Norm = Literal["l1", "l2", "linf"]
ORDER: dict[str, float] = {"l1": 1.0, "l2": 2.0, "linf": float("inf")}
AscentDirection = Literal["gradient", "noise", "flipped"]
"""Where steps go: up the gradient, or one of two controls that cost the same. Decision 0070."""


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


def uniform_rows(anchor: Anchor, streams: Streams, stream: str, width: int) -> Float[Tensor, "b l {width}"]:
    """Draw U(0, 1) for real tokens (else 0), keyed by (stream, step, global row)."""
    return _drawn(torch.rand, anchor, streams, stream, width)


def normal_rows(anchor: Anchor, streams: Streams, stream: str, width: int) -> Float[Tensor, "b l {width}"]:
    """Draw `width` numbers of N(0, 1) for each real token; keyed like `uniform_rows`."""
    return _drawn(torch.randn, anchor, streams, stream, width)


def _drawn(draw: Callable[..., Tensor], anchor: Anchor, streams: Streams, stream: str, width: int) -> Tensor:
    """Draw in float32 whatever the model's precision, so that draws can be compared."""

    def make(host: Batch, step: int) -> tuple[Tensor]:
        noise = torch.zeros(*host.mask.shape, width)
        for i, (row, real) in enumerate(zip(host.rows.tolist(), host.mask.sum(1).tolist(), strict=True)):
            noise[i, :real] = draw(real, width, generator=streams.generator(stream, step, row))
        return (noise,)

    return anchor.batch.drawn(stream, anchor.step, make)[0].to(anchor.embeddings)


def feature_rows(
    anchor: Anchor, streams: Streams, width: int, *, is_shared: bool = False
) -> Float[Tensor, "{width} b d"]:
    """Draw `width` times U(0, 1) for each hidden feature of each row, or of each view."""
    num_features = anchor.hidden_size or anchor.embeddings.shape[-1]

    def make(host: Batch, step: int) -> tuple[Tensor]:
        keys = [row // host.num_rows if is_shared else row for row in host.rows.tolist()]
        generators = [streams.generator("masks", step, key, 1) for key in keys]
        drawn = [torch.rand(width, num_features, generator=generator) for generator in generators]
        return (torch.stack(drawn, dim=1),)

    return anchor.batch.drawn("masks/features", anchor.step, make)[0].to(anchor.embeddings)


def start_delta(anchor: Anchor, streams: Streams, sigma: float) -> Float[Tensor, "b l d"]:
    """Draw delta0 ~ U(-sigma, sigma) / sqrt(d) (Algorithm 1) on perturbable tokens."""
    width = anchor.embeddings.shape[-1]
    noise = (2 * uniform_rows(anchor, streams, "delta0", width) - 1) * sigma / width**0.5
    return noise * anchor.perturbable[:, :, None]


def control_signs(anchor: Anchor, streams: Streams) -> Float[Tensor, "b l d"]:
    """Draw random signs on perturbable tokens, the direction of the control `noise`."""
    signs = (uniform_rows(anchor, streams, "control", anchor.embeddings.shape[-1]) - 0.5).sign()
    return signs * anchor.perturbable[:, :, None]


def of_norm(signs: Float[Tensor, "b l d"], delta: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
    """Return the signs with the l2 norm of each sentence's delta.

    No entry exceeds delta's largest.
    """
    lengths = [x.flatten(1).norm(dim=1)[:, None, None] for x in (delta, signs)]
    return signs * lengths[0] / lengths[1].clamp_min(1)
