"""From token vectors to a sentence vector."""

from typing import Literal, get_args

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from rse_study.errors import InputError

PoolingKind = Literal["cls", "mean", "first_last", "prompt"]
KINDS: tuple[str, ...] = get_args(PoolingKind)


def pool_cls(hidden: Float[Tensor, "b l d"]) -> Float[Tensor, "b d"]:
    """Last hidden state at position 0, without any pooler layer."""
    return hidden[:, 0]


def pool_mean(hidden: Float[Tensor, "b l d"], mask: Bool[Tensor, "b l"]) -> Float[Tensor, "b d"]:
    """Mean over real tokens."""
    kept = hidden.masked_fill(~mask[..., None], 0.0)
    return kept.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def pool_prompt(
    hidden: Float[Tensor, "b l d"], ids: Int[Tensor, "b l"], mask_token_id: int
) -> Float[Tensor, "b d"]:
    """Hidden state at the first [MASK] of each row (PromptBERT's template).

    Parameters
    ----------
    hidden
        Last hidden states.
    ids
        Token ids.
    mask_token_id
        That of [MASK].

    Raises
    ------
    InputError
        where a row has no [MASK].
    """
    is_mask = ids == mask_token_id
    if not bool(is_mask.any(1).all()):
        raise InputError(
            "a sentence without a [MASK] token",
            rule="prompt pooling reads the hidden state at [MASK]",
            remedy="Give a template that contains [MASK], and a max_length that does not cut it off.",
        )
    rows = torch.arange(len(ids), device=ids.device)
    return hidden[rows, is_mask.int().argmax(1)]
