"""Noise keyed by row: the same for every padding, bucketing and number of workers."""

from collections.abc import Callable

from rse_study.perturbations.ascent import Anchor
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor, sent, torch


def uniform_rows(anchor: Anchor, streams: Streams, stream: str, width: int) -> Float[Tensor, "b l {width}"]:
    """Draw U(0, 1) for real tokens (else 0), keyed by (stream, step, global row)."""
    return _drawn(torch.rand, anchor, streams, stream, width)


def normal_rows(anchor: Anchor, streams: Streams, stream: str, width: int) -> Float[Tensor, "b l {width}"]:
    """Draw `width` numbers of N(0, 1) for each real token; keyed like `uniform_rows`."""
    return _drawn(torch.randn, anchor, streams, stream, width)


def _drawn(draw: Callable[..., Tensor], anchor: Anchor, streams: Streams, stream: str, width: int) -> Tensor:
    """Draw in float32 whatever the model's precision, so that draws can be compared."""
    batch = anchor.batch.on_host
    noise = torch.zeros(*batch.mask.shape, width)
    for i, (row, real) in enumerate(zip(batch.rows.tolist(), batch.mask.sum(1).tolist(), strict=True)):
        noise[i, :real] = draw(real, width, generator=streams.generator(stream, anchor.step, row))
    return sent(noise, anchor.embeddings.device).to(anchor.embeddings)


def start_delta(anchor: Anchor, streams: Streams, sigma: float) -> Float[Tensor, "b l d"]:
    """Draw delta0 ~ U(-sigma, sigma) / sqrt(d) (Algorithm 1) on perturbable tokens."""
    width = anchor.embeddings.shape[-1]
    noise = (2 * uniform_rows(anchor, streams, "delta0", width) - 1) * sigma / width**0.5
    return noise * anchor.perturbable[:, :, None]
