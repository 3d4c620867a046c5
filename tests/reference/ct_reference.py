"""Contrastive tension (Carlsson et al. 2021), one step: every pair's binary cross-entropy, pair by pair."""

import torch
from torch import Tensor


def pooled(encoder, batch, i: int) -> Tensor:
    """The [d] vector of the batch's i-th sentence, encoded alone and without padding."""
    real = int(batch.mask[i].sum())
    ids, mask = batch.ids[i : i + 1, :real], batch.mask[i : i + 1, :real]
    return encoder(encoder.word_embeddings(ids), mask, ids)[0]


def softplus(x: Tensor) -> Tensor:
    """log(1 + e^x) of a number; the largest exponent is taken out, and x = 0 is no corner."""
    if x.item() > 0:
        return x + torch.log1p(torch.exp(-x))
    return torch.log1p(torch.exp(x))


def dot(u: Tensor, v: Tensor) -> Tensor:
    """u . v of two [d] vectors."""
    total = torch.zeros((), dtype=torch.float64)
    for a, b in zip(u, v, strict=True):
        total = total + a * b
    return total


def negatives(row: int, num_rows: int, num_negatives: int, run, step: int) -> list[int]:
    """N_i: distinct rows of the global batch, never the sentence's own; all others if K is larger."""
    draws = run.streams.generator("negatives", step, row)
    entries = torch.randperm(num_rows - 1, generator=draws).tolist()[:num_negatives]
    return [entry if entry < row else entry + 1 for entry in entries]


def reference(method, networks, batch, run, step) -> Tensor:
    """L = 1/b sum_i [softplus(-t(i, i)) + sum_{j in N_i} softplus(t(i, j))], t(i, j) = f1(x_i) . f2(x_j)."""
    rows = batch.rows.tolist()
    f1 = {row: pooled(networks.other, batch, i) for i, row in enumerate(rows)}
    f2 = {row: pooled(networks.encoder, batch, i) for i, row in enumerate(rows)}
    loss = torch.zeros((), dtype=torch.float64)
    for row in rows:
        loss = loss + softplus(-dot(f1[row], f2[row]))
        for other in negatives(row, len(rows), method.num_negatives, run, step):
            loss = loss + softplus(dot(f1[row], f2[other]))
    return loss / len(rows)
