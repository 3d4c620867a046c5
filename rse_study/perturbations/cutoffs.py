"""Views made by hand: shuffled tokens, token cutoff, feature cutoff (ConSERT)."""

from typing import Literal

from rse_study.data.batches import Batch
from rse_study.perturbations.ascent import Anchor
from rse_study.streams import Streams
from rse_study.tensors import Float, Int, Tensor, torch

Cut = Literal["none", "shuffle", "token_cutoff", "feature_cutoff"]


def altered(
    embeddings: Float[Tensor, "b l d"], anchor: Anchor, how: Cut, rate: float, streams: Streams, view: int
) -> Float[Tensor, "b l d"]:
    """Alter the word embeddings of each sentence; padding stays, the gradient passes.

    `shuffle` permutes the perturbable tokens, the same as permuting their absolute positions. The cutoffs set a share
    `rate` of tokens or features to zero: rounded, at least one. Draws are keyed by (stream `views`, step, row, view).
    """
    if how == "none":
        return embeddings
    width = embeddings.shape[-1]
    order, keep = anchor.batch.drawn(
        f"views/{view}", anchor.step, lambda host, step: _drawn(host, step, width, how, rate, streams, view)
    )
    if how == "shuffle":
        return embeddings.gather(1, order[:, :, None].expand_as(embeddings))
    return embeddings * keep.to(embeddings)


def _drawn(
    batch: Batch, step: int, width: int, how: Cut, rate: float, streams: Streams, view: int
) -> tuple[Int[Tensor, "b l"], Float[Tensor, "b l d"]]:
    num_rows, length = batch.ids.shape
    order = torch.arange(length).repeat(num_rows, 1)
    keep = torch.ones(num_rows, length, width)
    for i, row in enumerate(batch.rows.tolist()):
        generator = streams.generator("views", step, row, view)
        places = batch.perturbable[i].nonzero()[:, 0]
        if how == "shuffle":
            order[i, places] = places[torch.randperm(len(places), generator=generator)]
        elif how == "token_cutoff":
            keep[i, places[_some(len(places), rate, generator)]] = 0
        else:
            keep[i, :, _some(width, rate, generator)] = 0
    return order, keep


def _some(number: int, rate: float, generator: "torch.Generator") -> Int[Tensor, " n"]:
    return torch.randperm(number, generator=generator)[: max(1, round(rate * number))]
