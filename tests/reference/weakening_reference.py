"""Weakening masks (L2P-CSR eqs 1-8) as RobustSentEmbed uses them here.

One site = the embedding output or the output of one of the first k layers. Each site has p_tok [b l] and
p_fea [b d], float64. Tokens are all real tokens of the sentence, special ones included.
"""

import math

import torch
from torch import Tensor


def threshold(probability: Tensor, phi: float) -> Tensor:
    """Eq 1: 1.0 where p >= phi, else 0.0; any shape [b n]. phi = 0 gives ones."""
    mask = torch.zeros_like(probability)
    for i in range(len(probability)):
        for j in range(len(probability[i])):
            mask[i][j] = 1.0 if float(probability[i][j]) >= phi else 0.0
    return mask


def weight(token_mask: Tensor, feature_mask: Tensor, real: Tensor) -> Tensor:
    """Eq 2: (m_i + m_j)/2 for feature j of token i, [b l d], differentiable in both masks; 1 on padding."""
    sentences = []
    for s in range(len(token_mask)):
        tokens = []
        for i in range(len(token_mask[s])):
            row = (token_mask[s][i] + feature_mask[s]) / 2
            tokens.append(row if bool(real[s][i]) else torch.ones_like(row))
        sentences.append(torch.stack(tokens))
    return torch.stack(sentences)


def updated(
    probability: Tensor, gradient: Tensor, counts: Tensor | None = None, *, step_size: float
) -> Tensor:
    """Eqs 5-6: p <- clip01(p + lr * g/||g||_2), the norm over one sentence's entries that count.

    `counts` [b n] bool is `real` for tokens, None (all) for features; the other entries stay as they were.
    """
    new = probability.clone()
    for s in range(len(probability)):
        kept = [j for j in range(len(probability[s])) if counts is None or bool(counts[s][j])]
        size = math.sqrt(math.fsum(float(gradient[s][j]) ** 2 for j in kept))
        for j in kept:
            step = step_size * float(gradient[s][j]) / size if size > 0 else 0.0
            new[s][j] = min(max(float(probability[s][j]) + step, 0.0), 1.0)
    return new
