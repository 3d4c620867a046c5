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
    """Corrupt ids and return the tokens to predict (Devlin et al. 2019, section 3.1).

    Of the chosen tokens 80% become [MASK], 10% a random token, 10% stay. All tensors are on the CPU.
    """
    chosen = (torch.rand(ids.shape, generator=generator) < share) & maskable
    fate = torch.rand(ids.shape, generator=generator)
    random_ids = torch.randint(vocabulary_size, ids.shape, generator=generator)
    corrupted = torch.where(chosen & (fate < 0.8), torch.full_like(ids, mask_id), ids)
    return torch.where(chosen & (fate >= 0.9), random_ids, corrupted), chosen


def rtd_mask(batch: Batch, streams: Streams, step: int, share: float = 0.2) -> Bool[Tensor, "b l"]:
    """Mask max(1, round(share * n)) of each row's n non-special tokens, on the CPU.

    A row's draw is without replacement, keyed by (stream, step, index in the global batch), and made over its own
    tokens, so it does not depend on padding, sorting or the number of workers. A row without such tokens gets no mask.
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
