"""V-advCSE, one optimiser step (eqs 7-14, Algorithm 1) as decision 0007 settles it, by slow loops.

r0 comes from outside, so does dropout. Autograd is used for two things: F's gradient in r, and the final loss.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .contrastive_reference import contrastive, cosine
from .geometry_reference import length, norm, project, unit

# encode(points [b l d], view) -> z after the head [b d]; `view` is one of "z", "z_pos" (with dropout) and "clean",
# "inner" (the ascent's passes), "perturbed" (the final one), which have no dropout. A batch-norm head computes its
# moments in "clean", which is called first of the three, and uses them in the other two (decision 0007).
Encode = Callable[[Tensor, str], Tensor]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The readings of decision 0007; every default is the default there."""

    K: int = 1
    step_size: float = 0.5  # eta of Algorithm 1, a length in `given_norm`; raw: the gradient's factor
    radius: float = 1.0  # epsilon, per sentence over its real tokens, in `given_norm`
    norm: str = "l2"  # or "linf"
    given_norm: str = "l2"
    strength: str = "matched"  # or "literal"
    gradient: str = "unit"  # or "unit_l2", "raw" (Algorithm 1)
    divergence: str = "js"  # or "kl", "symmetric_kl"
    distribution: str = "features"  # or "in_batch"
    key_temperature: float = 0.05  # of the in-batch reading; features have temperature 1
    temperature: float = 0.05  # tau of eq 7
    lambda_: float = 1e-6


@dataclass(frozen=True, kw_only=True)
class Step:
    """Eq 10 and its parts before weighting (0-d float64), the views, and r, a constant [b l d]."""

    loss: Tensor
    contrastive: Tensor
    virtual: Tensor  # F, summed over the batch
    z: Tensor
    z_pos: Tensor
    clean: Tensor
    perturbed: Tensor
    r: Tensor


def log_softmax(logits: Tensor) -> Tensor:
    """log(e^{x_k} / sum_j e^{x_j}) of one [n] vector; the largest entry is taken out and put back."""
    largest = max(float(value) for value in logits.detach())
    total = torch.zeros((), dtype=torch.float64)
    for value in logits:
        total = total + torch.exp(value - largest)
    return torch.stack([value - largest - torch.log(total) for value in logits])


def log_distribution(z: Tensor, keys: Tensor, o: Options) -> Tensor:
    """log p(f(X)) of every sentence, [b n]: over the features (n = d), or over the batch's keys (n = b)."""
    rows = []
    for i in range(len(z)):
        if o.distribution == "features":
            # The paper never says what p is. Our reading: softmax of the head's output over its features.
            rows.append(log_softmax(z[i]))
        elif o.distribution == "in_batch":
            # Our reading of the other one: a sentence's own clean key is among the keys, in both branches,
            # and keys carry no gradient in either.
            similarities = [cosine(z[i], key.detach()) / o.key_temperature for key in keys]
            rows.append(log_softmax(torch.stack(similarities)))
        else:
            raise ValueError(o.distribution)
    return torch.stack(rows)


def kl(log_p: Tensor, log_q: Tensor) -> Tensor:
    """Eq 11, of two log distributions [n]."""
    total = torch.zeros((), dtype=torch.float64)
    for a, b in zip(log_p, log_q, strict=True):
        total = total + torch.exp(a) * (a - b)
    return total


def log_mixture(log_p: Tensor, log_q: Tensor) -> Tensor:
    """log M of eq 14, M = (P + Q)/2."""
    entries = []
    for a, b in zip(log_p, log_q, strict=True):
        largest = max(float(a.detach()), float(b.detach()))
        entries.append(largest + torch.log(torch.exp(a - largest) + torch.exp(b - largest)) - math.log(2))
    return torch.stack(entries)


def divergence(log_p: Tensor, log_q: Tensor, name: str) -> Tensor:
    """F of eqs 11-13 for one sentence: P is the clean branch, Q the perturbed one (the order of eq 8)."""
    if name == "kl":
        return kl(log_p, log_q)
    if name == "symmetric_kl":
        return (kl(log_p, log_q) + kl(log_q, log_p)) / 2
    if name == "js":
        log_m = log_mixture(log_p, log_q)
        return (kl(log_p, log_m) + kl(log_q, log_m)) / 2
    raise ValueError(name)


def virtual(clean: Tensor, perturbed: Tensor, o: Options) -> Tensor:
    """F of eq 8, the clean branch a constant.

    Summed over the batch, not averaged: then a raw step of the ascent does not depend on b.
    """
    constant = clean.detach()
    p, q = log_distribution(constant, constant, o), log_distribution(perturbed, constant, o)
    total = torch.zeros((), dtype=torch.float64)
    for i in range(len(p)):
        total = total + divergence(p[i], q[i], o.divergence)
    return total


def gradient_at(encode: Encode, embeddings: Tensor, clean: Tensor, r: Tensor, o: Options) -> Tensor:
    """Line 5 of Algorithm 1: dF/dr [b l d], nothing else receives a gradient."""
    leaf = r.detach().clone().requires_grad_()
    loss = virtual(clean, encode(embeddings.detach() + leaf, "inner"), o)
    return torch.autograd.grad(loss, leaf)[0]


def moved(r: Tensor, gradient: Tensor, real: Tensor, o: Options) -> Tensor:
    """Line 6: Proj(r + step * g), sentence by sentence over the real tokens, special ones too; 0 on padding."""
    new = torch.zeros_like(r)
    for s in range(len(r)):
        places = [(i, j) for i in range(len(r[s])) if bool(real[s][i]) for j in range(len(r[s][i]))]
        steps = step_of([float(gradient[s][i][j]) for i, j in places], o)
        there = [float(r[s][i][j]) + by for (i, j), by in zip(places, steps, strict=True)]
        count = len(places)
        radius = length(o.radius, given_norm=o.given_norm, used_norm=o.norm, count=count, strength=o.strength)
        for (i, j), value in zip(places, project(there, radius, o.norm), strict=True):
            new[s][i][j] = value
    return new


def step_of(gradient: list[float], o: Options) -> list[float]:
    """step * g of one sentence, g normalised or not.

    "unit" is g/||g||_P, P the ball's norm, its step a length like the radius (`strength: matched`); "unit_l2" is
    g/||g||_2 whatever the ball, its step the one given for l2; "raw" is g itself (Algorithm 1 has no norm).
    """
    if o.gradient == "raw":
        return [o.step_size * value for value in gradient]
    if o.gradient not in ("unit", "unit_l2"):
        raise ValueError(o.gradient)
    p = o.norm if o.gradient == "unit" else "l2"
    size = length(o.step_size, given_norm=o.given_norm, used_norm=p, count=len(gradient), strength=o.strength)
    return [size * value for value in unit(gradient, p)]


def ascend(encode: Encode, embeddings: Tensor, clean: Tensor, r0: Tensor, real: Tensor, o: Options) -> Tensor:
    """Lines 3-7: r after K steps. Algorithm 1 projects after a step only: r0 is masked, never projected."""
    r = r0 * real[:, :, None]
    for _ in range(o.K):
        r = moved(r, gradient_at(encode, embeddings, clean, r, o), real, o)
    return r


def step(encode: Encode, embeddings: Tensor, *, real: Tensor, r0: Tensor, **options: Any) -> Step:
    """Eq 10: L_con (eq 7, mean over the batch) + lambda * F(p(f(X)), p(f(X + r))).

    `embeddings` = X [b l d] with its gradient, `real` [b l] bool, `r0` [b l d] drawn outside.
    """
    o = Options(**options)
    z, z_pos = encode(embeddings, "z"), encode(embeddings, "z_pos")
    clean = encode(embeddings.detach(), "clean").detach()
    r = ascend(encode, embeddings, clean, r0, real, o)
    perturbed = encode(embeddings + r, "perturbed")  # r is a constant, X is not
    con = contrastive(z, [z_pos], [z_pos], temperature=o.temperature)
    distance = virtual(clean, perturbed, o)
    return Step(
        loss=con + o.lambda_ * distance,
        contrastive=con,
        virtual=distance,
        z=z,
        z_pos=z_pos,
        clean=clean,
        perturbed=perturbed,
        r=r,
    )


def gradient_share(result: Step, parameters: Iterable[Tensor], lambda_: float) -> float:
    """lambda * |grad F| / |grad L_con|, l2 norms over all parameters together."""
    parameters, sizes = list(parameters), []
    for part in (result.virtual, result.contrastive):
        found = torch.autograd.grad(part, parameters, retain_graph=True, allow_unused=True)
        entries = [float(x) for g in found if g is not None for x in g.flatten()]
        sizes.append(norm(entries, "l2"))
    return lambda_ * sizes[0] / sizes[1]
