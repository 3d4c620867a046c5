"""Poolings, and the names and modes of other parts of models."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal, get_args

from rse_study.errors import InputError
from rse_study.tensors import Bool, Float, Int, Tensor, nn

HeadKind = Literal["none", "linear_tanh", "batch_norm"]
NormKind = Literal["power", "batch", "none"]
"""the normalisation of DCL's projection and predictor"""


PoolingKind = Literal["cls", "mean", "first_last", "prompt", "pooler", "convolved"]
KINDS: tuple[str, ...] = get_args(PoolingKind)


def pool_mean(hidden: Float[Tensor, "b l d"], mask: Bool[Tensor, "b l"]) -> Float[Tensor, "b d"]:
    """Average over real tokens."""
    kept = hidden.masked_fill(~mask[..., None], 0.0)
    return kept.sum(1) / mask.sum(1, keepdim=True).clamp(min=1)


def prompt_positions(ids: Int[Tensor, "b l"], mask_token_id: int) -> Int[Tensor, " b"]:
    """Return the position of the first [MASK] in each row (PromptBERT's template)."""
    is_mask = ids == mask_token_id
    # Not checked on a GPU, which would make us wait: it only reads corpora, whose template is never cut.
    if ids.device.type == "cpu" and not bool(is_mask.any(1).all()):
        rule = "prompt pooling reads the hidden state at [MASK]"
        remedy = "Give a template that contains [MASK], and a max_length that does not cut it off."
        raise InputError("a sentence without a [MASK] token", rule=rule, remedy=remedy)
    return is_mask.int().argmax(1)


@contextmanager
def in_mode(network: "nn.Module", *, training: bool) -> Iterator[None]:
    """Turn dropout on or off inside; every module gets its own mode back."""
    modes = {module: module.training for module in network.modules()}
    try:
        network.train(training)
        yield
    finally:
        for module, mode in modes.items():
            module.training = mode
