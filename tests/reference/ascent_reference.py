"""Algorithm 1's inner loop as decision 0003 settles it: one slow loop, all readings.

Autograd is used for one thing: the gradient of the inner loss in the input point and the binary masks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .contrastive_reference import contrastive
from .players_reference import Options, mix, project_delta, project_eta, sign_step, step_eta, unit_step
from .table_reference import write_back
from .weakening_reference import threshold, updated, weight

Encode = Callable[[Tensor, list[Tensor]], Tensor]  # (points [b l d], one weight [b l d] per site) -> z [b d]
Gradients = list[Tensor]  # of the point, of each site's token mask, of each site's feature mask


@dataclass(frozen=True, kw_only=True)
class Ascent:
    """What the outer step needs, all constants: float64 [b l d]; table [vocab d]; lists over sites."""

    delta_pgd: Tensor
    delta_fgsm: Tensor
    delta_final: Tensor
    delta_start: Tensor  # zeroed outside perturbable tokens and projected
    eta: Tensor
    eta_start: Tensor
    table: Tensor  # V after the write-back
    p_tok: list[Tensor]
    p_fea: list[Tensor]
    weights: list[Tensor]  # thresholded after the last update; empty without weakening
    num_gradients: int  # of a literal run: rho in {0, 1} needs fewer


def inner_loss(
    encode: Encode, point: Tensor, weights: list[Tensor], z_pos: Tensor, temperature: float
) -> Tensor:
    """L_con(f(point), {z_pos}), mean over the batch, other sentences' z_pos as negatives (eq 9)."""
    return contrastive(encode(point, weights), [z_pos], [z_pos], temperature=temperature)


def ascend(
    encode: Encode,
    embeddings: Tensor,
    z_pos: Tensor,
    delta0: Tensor,
    *,
    table: Tensor,
    ids: Tensor,
    perturbable: Tensor,
    real: Tensor,
    rows: list[int] | None = None,
    p_tok: Sequence[Tensor] = (),
    p_fea: Sequence[Tensor] = (),
    **options: Any,
) -> Ascent:
    """Algorithm 1: X = `embeddings` [b l d], constant `z_pos` [b d], drawn `delta0`, V = `table` [vocab d].

    `p_tok`, `p_fea`: the sites' first probabilities (none: no weakening). `options`: the fields of `Options`.
    `encode` must ignore padding. Every gradient of step t is taken before any state changes.
    """
    o = Options(**options)
    assert max(o.K, o.T) >= 1, "N = 0 means no adversarial view: there is nothing to ascend"
    embeddings, z_pos = embeddings.detach(), z_pos.detach()
    tokens, features = list(p_tok), list(p_fea)
    delta_start = project_delta(delta0, perturbable, o)
    eta_start = project_eta(table[ids], perturbable, o) if o.eta == "present" else torch.zeros_like(delta0)
    pgd, fgsm, eta, num_gradients = delta_start, delta_start, eta_start, 0

    for t in range(1, max(o.K, o.T) + 1):
        masks = [threshold(p, o.phi) for p in tokens], [threshold(p, o.phi) for p in features]

        def gradient(change: Tensor, masks: tuple[list[Tensor], list[Tensor]] = masks) -> Gradients:
            return gradient_at(encode, embeddings + change, z_pos, *masks, real, o.temperature)

        g_pgd, g_fgsm, g_rest, used = step_gradients(gradient, pgd, fgsm, eta, o)
        num_gradients += used
        mixed = mix(pgd, fgsm, o)
        if t <= o.K:
            start = mixed if o.trajectories == "joint_state" else pgd
            pgd = project_delta(start + pgd_step(g_pgd, perturbable, o), perturbable, o)  # eq 5
        if t <= o.T:
            start = mixed if o.trajectories == "joint_state" else fgsm
            fgsm = project_delta(start + sign_step(g_fgsm, perturbable, o), perturbable, o)  # eq 6
        if o.eta == "present":
            eta = step_eta(eta, g_rest[0], perturbable, o)  # eqs 2-4
        g_tok, g_fea = g_rest[1 : 1 + len(tokens)], g_rest[1 + len(tokens) :]
        tokens = [updated(p, g, real, step_size=o.mask_step_size) for p, g in zip(tokens, g_tok, strict=True)]
        features = [updated(p, g, step_size=o.mask_step_size) for p, g in zip(features, g_fea, strict=True)]

    rule = o.write_back if o.eta == "present" else "none"
    return Ascent(
        delta_pgd=pgd,
        delta_fgsm=fgsm,
        delta_final=mix(pgd, fgsm, o),
        delta_start=delta_start,
        eta=eta,
        eta_start=eta_start,
        p_tok=tokens,
        p_fea=features,
        num_gradients=num_gradients,
        table=write_back(table, ids, perturbable, eta_start, eta, rule=rule, rows=rows),
        weights=[
            weight(threshold(p, o.phi), threshold(q, o.phi), real)
            for p, q in zip(tokens, features, strict=True)
        ],
    )


def pgd_step(gradient: Tensor, perturbable: Tensor, o: Options) -> Tensor:
    """alpha * g/||g||_P of eq 5."""
    return unit_step(
        gradient,
        perturbable,
        o,
        scope=o.delta_scope,
        p=o.delta_norm,
        given_norm=o.delta_given_norm,
        given=o.alpha,
    )


def gradient_at(
    encode: Encode,
    point: Tensor,
    z_pos: Tensor,
    token_masks: list[Tensor],
    feature_masks: list[Tensor],
    real: Tensor,
    temperature: float,
) -> Gradients:
    """d inner loss / d (point, token masks, feature masks) for the whole batch; masks are float leaves."""
    leaves = [x.detach().clone().requires_grad_() for x in (point, *token_masks, *feature_masks)]
    num_sites = len(token_masks)
    weights = [weight(leaves[1 + k], leaves[1 + num_sites + k], real) for k in range(num_sites)]
    loss = inner_loss(encode, leaves[0], weights, z_pos, temperature)
    return list(torch.autograd.grad(loss, leaves, materialize_grads=True))


def step_gradients(
    gradient: Callable[[Tensor], Gradients], pgd: Tensor, fgsm: Tensor, eta: Tensor, o: Options
) -> tuple[Tensor, Tensor, Gradients, int]:
    """The gradients that PGD, FGSM and (eta and the masks) see in one step, and how many passes that takes.

    `gradient(change)` is taken at X + change. eta and the masks see X + rho-mix + eta, or, where each
    trajectory has its own pass with eta in it (`separate`, `with_eta`), the rho-mix of the two gradients. Our
    reading for the masks ("the same backward pass as delta and eta"): theirs is always eta's.
    """
    mixed = mix(pgd, fgsm, o)
    if o.trajectories not in ("shared", "joint_state", "separate"):
        raise ValueError(o.trajectories)
    if o.delta_gradient not in ("with_eta", "without_eta"):
        raise ValueError(o.delta_gradient)
    with_eta = o.delta_gradient == "with_eta"
    seen = eta if with_eta else torch.zeros_like(eta)
    if o.trajectories == "separate":
        of_pgd, of_fgsm, used = gradient(pgd + seen), gradient(fgsm + seen), 2
        rest = [mix(a, b, o) for a, b in zip(of_pgd, of_fgsm, strict=True)]
    else:
        of_pgd = of_fgsm = rest = gradient(mixed + seen)
        used = 1
    if not with_eta and o.eta == "present":
        rest, used = gradient(mixed + eta), used + 1
    return of_pgd[0], of_fgsm[0], rest, used
