"""Word vectors: logarithms of weighted co-occurrence counts, as in GloVe, reduced."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor

from rse_study.assets.masked_lm import one_thread
from rse_study.data.template import num_ids, tokens_of
from rse_study.models.loading import seeded_init

OVERSAMPLING = 16  # extra dimensions that make the truncated SVD accurate enough (Halko et al. 2011)
NUM_PASSES = 4


def word_vectors(
    sentences: list[str], tokenizer: Any, num_dimensions: int, window: int, seed: int
) -> Float[Tensor, "v d"]:
    """Return a vector for each token of the vocabulary; zero without neighbours.

    Rows of U sqrt(S), where U S V' is the singular value decomposition of log(1 + counts), scaled so that the entries
    of all non-zero rows have mean square 1. The seed draws the random directions of the decomposition.
    """
    counts = cooccurrences(sentences, tokenizer, window)
    width = min(num_dimensions, len(counts))
    with one_thread(), seeded_init(seed):
        left, values, _ = torch.svd_lowrank(
            counts.log1p(), min(width + OVERSAMPLING, len(counts)), niter=NUM_PASSES
        )
    left, values = left[:, :width], values[:width]
    # The sign of a singular vector is arbitrary: make its largest entry positive, whatever the library returns.
    signs = left.gather(0, left.abs().argmax(0, keepdim=True)).sign()
    vectors = torch.zeros(len(counts), num_dimensions, dtype=counts.dtype)
    is_counted = counts.sum(1) > 0
    vectors[is_counted, :width] = (left * signs * values.sqrt())[is_counted]
    return (vectors / vectors[is_counted].square().mean().sqrt()).float()


def cooccurrences(sentences: list[str], tokenizer: Any, window: int) -> Float[Tensor, "v v"]:
    """Count pairs of tokens at most `window` apart, each weighted by 1/distance."""
    tokens = tokens_of(tokenizer, sentences, add_special_tokens=False)["input_ids"]
    flat = torch.tensor([token for sentence in tokens for token in sentence])
    sentence = torch.repeat_interleave(torch.arange(len(tokens)), torch.tensor([len(one) for one in tokens]))
    counts = torch.zeros(2 * [num_ids(tokenizer)], dtype=torch.float64)
    for apart in range(1, window + 1):
        within = sentence[:-apart] == sentence[apart:]
        _add(counts, flat[:-apart][within], flat[apart:][within], 1 / apart)
    return counts


def _add(
    counts: Float[Tensor, "v v"], one: Int[Tensor, " n"], other: Int[Tensor, " n"], weight: float
) -> None:
    weights = torch.full(one.shape, weight, dtype=counts.dtype)
    counts.index_put_((one, other), weights, accumulate=True)
    counts.index_put_((other, one), weights, accumulate=True)
