"""ATCL (Rim et al. 2021), one step: a fast-gradient step on the word embeddings of each sentence, then its view.

Autograd is used for two things: the gradient of the contrastive loss in X, and the final loss.
"""

import torch
from torch import Tensor

from .contrastive_reference import contrastive
from .geometry_reference import unit


def encode(networks, batch, words: list[Tensor]) -> Tensor:
    """z [b d] of sentences of word embeddings [l d], each encoded alone; the head sees one view at a time."""
    vectors = []
    for i, points in enumerate(words):
        real = len(points)
        mask, ids = batch.mask[i : i + 1, :real], batch.ids[i : i + 1, :real]
        vectors.append(networks.encoder(points[None], mask, ids)[0])
    return networks.head(torch.stack(vectors))[0]


def perturbation(gradient: Tensor, perturbable: list[bool], epsilon: float) -> Tensor:
    """r [l d] = epsilon * g / ||g||_2 over the sentence's perturbable tokens together; 0 at the other tokens."""
    places = [(i, j) for i, moves in enumerate(perturbable) if moves for j in range(gradient.shape[1])]
    direction = unit([float(gradient[i, j]) for i, j in places], "l2")
    r = torch.zeros_like(gradient)
    for (i, j), value in zip(places, direction, strict=True):
        r[i, j] = epsilon * value
    return r


def reference(method, networks, batch, run, step) -> Tensor:
    """L = L_con(z, {z_pos}) + weight * L_con(z, {z_adv}), z_adv = head(f(X + r))."""
    table = networks.encoder.word_embeddings(batch.ids)
    words = [table[i, : int(batch.mask[i].sum())] for i in range(len(table))]
    z, z_pos = encode(networks, batch, words), encode(networks, batch, words)
    first = contrastive(z, [z_pos], [z_pos], temperature=method.temperature)
    # The sum over the batch; X is the same tensor in both views, so that both count.
    slopes = torch.autograd.grad(first * len(words), words, retain_graph=True)
    moved = []
    for i, (points, slope) in enumerate(zip(words, slopes, strict=True)):
        moved.append(
            points + perturbation(slope, batch.perturbable[i, : len(points)].tolist(), method.epsilon)
        )
    z_adv = encode(networks, batch, moved)
    return first + method.weight * contrastive(z, [z_adv], [z_adv], temperature=method.temperature)
