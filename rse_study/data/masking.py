"""Masks for masked-LM training and for replaced-token detection."""

from rse_study.data.batches import Batch
from rse_study.streams import Streams
from rse_study.tensors import Bool, Int, Tensor, torch


def mask_tokens(
    ids: Int[Tensor, "*batch"],
    maskable: Bool[Tensor, "*batch"],
    *,
    mask_id: int,
    vocabulary_size: int,
    generator: "torch.Generator",
    share: float = 0.15,
) -> tuple[Int[Tensor, "*batch"], Bool[Tensor, "*batch"]]:
    """Corrupt ids, and say which tokens to predict (Devlin et al. 2019, section 3.1).

    Of the chosen tokens 80 % become [MASK], 10 % a random token, 10 % stay. Tensors live on the CPU.

    Parameters
    ----------
    ids
        Token ids.
    maskable
        Tokens that may be chosen.
    mask_id
        That of [MASK].
    vocabulary_size
        Random tokens are below it.
    generator
        Of all that is drawn.
    share
        Of the tokens that is chosen, 0..1.
    """
    chosen = (torch.rand(ids.shape, generator=generator) < share) & maskable
    fate = torch.rand(ids.shape, generator=generator)
    random_ids = torch.randint(vocabulary_size, ids.shape, generator=generator)
    corrupted = torch.where(chosen & (fate < 0.8), torch.full_like(ids, mask_id), ids)
    return torch.where(chosen & (fate >= 0.9), random_ids, corrupted), chosen


def rtd_mask(batch: Batch, streams: Streams, step: int, share: float = 0.2) -> Bool[Tensor, "b l"]:
    """Mask max(1, round(share * n)) of each row's n non-special tokens.

    Without replacement. A row's draw is keyed by (stream, step, index in the global batch) and made over its own
    tokens: padding, sorting and the number of workers leave it alone. A row without such tokens gets none.
    Masks are on the CPU.

    Parameters
    ----------
    batch
        Whose rows are masked.
    streams
        Of the draw.
    step
        Optimiser step.
    share
        Of the tokens, 0..1.
    """
    host = batch.on_host
    masked = torch.zeros_like(host.perturbable)
    for row, (index, perturbable) in enumerate(zip(host.rows.tolist(), host.perturbable, strict=True)):
        places = perturbable.nonzero().squeeze(1)
        if len(places):
            count = max(1, round(share * len(places)))
            order = torch.randperm(len(places), generator=streams.generator("rtd", step, index))
            masked[row, places[order[:count]]] = True
    return masked
