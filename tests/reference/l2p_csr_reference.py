"""L2P-CSR, one optimiser step (eqs 1-9) as decision 0007 settles it: two views under learned masks, by slow loops.

Probabilities, noise and dropout come from outside. Autograd is used for two things: the gradient of the
contrastive loss in the masks (or the noise), and the final loss.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from . import v_adv_cse_reference
from .contrastive_reference import contrastive
from .geometry_reference import sign
from .weakening_reference import threshold, updated, weight

# encode(points [b l d], one weight [b l d] per site, view) -> z after the head [b d]; `view` is one of "inner_z",
# "inner_z_pos" (the ascent's passes), "z", "z_pos" (the final ones). A view's dropout masks are the same
# in all its passes: "inner_z" has those of "z". `encode` ignores padding (the attention mask is passed).
Encode = Callable[[Tensor, list[Tensor], str], Tensor]
Pair = tuple[Sequence[Tensor], Sequence[Tensor]]  # of the first view and of the second; one tensor per site
VIEWS = ("z", "z_pos")
VARIANTS = (
    "full",
    "no_feature_mask",
    "no_token_mask",
    "no_learning",
    "embedding_noise",
    "continual_mask",
)  # the rows of the paper's Table 3
# The authors' code, as far as we follow it (decision 0007): the attention mask, which it drops, is passed here too.
RELEASED = {"t": 4, "step_size": 0.1, "token_step": "sign", "feature_mask": "batch"}


@dataclass(frozen=True, kw_only=True)
class Options:
    """The readings of decision 0007; every default is the default there."""

    t: int = 5  # the paper gives none; released: 4
    step_size: float = 0.5  # lr_p: beta of eqs 5-6
    phi: float = 0.05
    temperature: float = 0.05
    k: int = 2
    sites: str = "through_k"  # or "below_k"
    variant: str = "full"
    token_step: str = "unit"  # or "sign" (released)
    feature_mask: str = "sentence"  # or "batch" (released): p_fea is [1 d], the same for all sentences
    # Emb Noise has no sizes in the paper: V-advCSE's ascent with V-advCSE's sizes (decision 0007).
    noise_norm: str = "l2"
    noise_step_size: float = 0.5
    noise_radius: float = 1.0
    noise_strength: str = "matched"


@dataclass(frozen=True, kw_only=True)
class View:
    """What one view learns: p_tok [b l] and p_fea [b d] (or [1 d]) per site, or its noise [b l d]."""

    tokens: list[Tensor]
    features: list[Tensor]
    noise: Tensor


@dataclass(frozen=True, kw_only=True)
class Step:
    """Eq 9 (0-d float64, differentiable), its views, and the constants under which it was taken."""

    loss: Tensor
    z: Tensor
    z_pos: Tensor
    learned: tuple[View, View]  # after the last update
    weights: tuple[list[Tensor], list[Tensor]]  # thresholded after the last update, [b l d] per site
    inner_losses: list[float]  # before each update
    num_gradients: int


def layers_of(k: int, sites: str) -> list[int]:
    """The layers whose outputs are weighted; 0 is the embedding output (the paper's footnote 1).

    Appendix B ("the embedding layer and the first two layers", k = 2) is the default, 0..k. Section 4.1 says
    {E^(l)}, l = 0..k-1: `below_k`.
    """
    if sites == "through_k":
        return list(range(k + 1))
    if sites == "below_k":
        return list(range(k))
    raise ValueError(sites)


def masks_of(view: View, o: Options) -> tuple[list[Tensor], list[Tensor]]:
    """Eq 1 per site, token masks and feature masks, as the variant has them."""
    if o.variant == "continual_mask":  # "directly utilizes the probability vectors"
        return list(view.tokens), list(view.features)
    tokens = [threshold(p, o.phi) for p in view.tokens]
    features = [threshold(p, o.phi) for p in view.features]
    if o.variant == "no_token_mask":  # our reading: weight = (1 + mask_j)/2, so a feature is halved at most
        tokens = [torch.ones_like(p) for p in tokens]
    if o.variant == "no_feature_mask":  # our reading: weight = (mask_i + 1)/2
        features = [torch.ones_like(p) for p in features]
    return tokens, features


def weights_of(
    tokens: Sequence[Tensor], features: Sequence[Tensor], real: Tensor, o: Options
) -> list[Tensor]:
    """Eq 2 per site, differentiable in both masks. [CLS] is a token like others; weakened twice is 0."""
    if o.variant == "embedding_noise":
        return []
    weights = []
    for token_mask, feature_mask in zip(tokens, features, strict=True):
        if o.feature_mask == "batch":
            feature_mask = torch.cat([feature_mask for _ in range(len(real))])
        weights.append(weight(token_mask, feature_mask, real))
    return weights


def encoded(
    encode: Encode, embeddings: Tensor, noises: Sequence[Tensor], weights: Sequence[list[Tensor]], prefix: str
) -> list[Tensor]:
    """Both views: f(X (+ noise); weights), [b d] each."""
    return [encode(embeddings + noises[v], weights[v], prefix + VIEWS[v]) for v in (0, 1)]


def loss_of(z: Tensor, z_pos: Tensor, o: Options) -> Tensor:
    """Eq 9, mean over the batch, the first view anchors, the second view's other sentences its negatives.

    Printed without its minus and with negatives alone in the denominator; decision 0007: the usual -log softmax.
    """
    return contrastive(z, [z_pos], [z_pos], temperature=o.temperature)


def gradients_at(
    encode: Encode, embeddings: Tensor, real: Tensor, views: tuple[View, View], o: Options
) -> tuple[float, list[View]]:
    """The inner loss and eqs 7-8: its gradient in the *binary* masks (no estimator), in both views' at once.

    Each view's is returned as a `View` that holds gradients. One loss of the whole batch, nothing detached: a
    mask of the second view is felt by its own anchor and, as a negative, by all others.
    """
    leaves, weights, noises = [], [], []
    for view in views:
        tokens, features = (
            [m.detach().clone().requires_grad_() for m in masks] for masks in masks_of(view, o)
        )
        noise = view.noise.detach().clone().requires_grad_()
        leaves.append([*tokens, *features, noise])
        weights.append(weights_of(tokens, features, real, o))
        noises.append(noise)
    z, z_pos = encoded(encode, embeddings.detach(), noises, weights, "inner_")
    loss = loss_of(z, z_pos, o)
    flat = torch.autograd.grad(loss, leaves[0] + leaves[1], materialize_grads=True)
    gradients, num_leaves, num_sites = [], len(leaves[0]), len(views[0].tokens)
    for v in (0, 1):
        own = list(flat[v * num_leaves : (v + 1) * num_leaves])
        gradients.append(View(tokens=own[:num_sites], features=own[num_sites:-1], noise=own[-1]))
    return float(loss.detach()), gradients


def updated_view(view: View, gradient: View, real: Tensor, o: Options) -> View:
    """Eqs 5-6 (the loss is ascended), or the noise's step. A variant without a mask leaves its p alone."""
    tokens, features, noise = view.tokens, view.features, view.noise
    if o.variant == "embedding_noise":
        noise = v_adv_cse_reference.moved(noise, gradient.noise, real, noise_options(o))
        return View(tokens=tokens, features=features, noise=noise)
    if o.variant != "no_token_mask":
        # ||g||_2 over what? Our reading: over a sentence's real tokens, per site and view.
        step = sign_updated if o.token_step == "sign" else updated
        tokens = [
            step(p, g, real, step_size=o.step_size) for p, g in zip(tokens, gradient.tokens, strict=True)
        ]
    if o.variant != "no_feature_mask":
        # ... and over the features of a sentence; of the batch's one mask, whose gradient is the sum of its rows'.
        features = [
            updated(p, g, step_size=o.step_size) for p, g in zip(features, gradient.features, strict=True)
        ]
    return View(tokens=tokens, features=features, noise=noise)


def sign_updated(probability: Tensor, gradient: Tensor, counts: Tensor, *, step_size: float) -> Tensor:
    """`released` for tokens: p <- clip01(p + lr * sign(g)) where `counts`, sign(0) = 0."""
    new = probability.clone()
    for s in range(len(new)):
        for j in range(len(new[s])):
            if bool(counts[s][j]):
                raised = float(probability[s][j]) + step_size * sign(float(gradient[s][j]))
                new[s][j] = min(max(raised, 0.0), 1.0)
    return new


def noise_options(o: Options) -> v_adv_cse_reference.Options:
    """Emb Noise: Proj(n + step * g/||g||_P) per sentence over its real tokens, on the word embeddings."""
    return v_adv_cse_reference.Options(
        norm=o.noise_norm, step_size=o.noise_step_size, radius=o.noise_radius, strength=o.noise_strength
    )


def step(
    encode: Encode,
    embeddings: Tensor,
    *,
    real: Tensor,
    p_tok: Pair = ((), ()),
    p_fea: Pair = ((), ()),
    noise: tuple[Tensor, Tensor] | None = None,
    **options: Any,
) -> Step:
    """One step of the appendix's Algorithm 1: `t` updates of both views, then eq 9 under their masks.

    `embeddings` = X [b l d] with its gradient, `real` [b l] bool; `noise`: n0 of both views, Emb Noise only.
    """
    o = Options(**options)
    assert o.variant in VARIANTS
    assert o.token_step in ("unit", "sign")
    assert (noise is not None) == (o.variant == "embedding_noise")
    if noise is None:
        num_sites = len(layers_of(o.k, o.sites))
        assert all(len(of_view) == num_sites for of_view in (*p_tok, *p_fea))
    nowhere = torch.zeros_like(embeddings.detach())
    first, second = (
        View(
            tokens=list(p_tok[v]),
            features=list(p_fea[v]),
            noise=nowhere if noise is None else noise[v] * real[:, :, None],
        )
        for v in (0, 1)
    )
    inner_losses = []
    for _ in range(0 if o.variant == "no_learning" else o.t):
        loss, (g_first, g_second) = gradients_at(encode, embeddings, real, (first, second), o)
        first, second = updated_view(first, g_first, real, o), updated_view(second, g_second, real, o)
        inner_losses.append(loss)
    weights = (
        weights_of(*masks_of(first, o), real, o),
        weights_of(*masks_of(second, o), real, o),
    )
    z, z_pos = encoded(encode, embeddings, (first.noise, second.noise), weights, "")
    return Step(
        loss=loss_of(z, z_pos, o),
        z=z,
        z_pos=z_pos,
        learned=(first, second),
        weights=weights,
        inner_losses=inner_losses,
        num_gradients=len(inner_losses),
    )
