"""The loss of one whole RobustSentEmbed optimiser step: ascent, then eq 10 (decision 0003), callables plugged in.

The loss stays differentiable in the parameters the callables close over, so their gradients can be compared.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from .ascent_reference import Ascent, ascend
from .contrastive_reference import regulariser_term, robust_term, total
from .rtd_reference import rtd

# encode(points [b l d], weights, view) -> (z after the head [b d], h before the head [b d]); `view` is one of
# "inner_pos", "inner" (no dropout), "z", "z_pos", "z_adv"; dropout and head moments are its own affair.
Encode = Callable[[Tensor, list[Tensor], str], tuple[Tensor, Tensor]]
Lookup = Callable[[Tensor], Tensor]  # ids [b l] -> the encoder's word embeddings [b l d], with gradient
Discriminate = Callable[[Tensor, Tensor], Tensor]  # (embeddings [b l d], h [b d]) -> P(original) [b l]


@dataclass(frozen=True, kw_only=True)
class Step:
    """Eq 10 and its parts before weighting (0-d float64), the views, the ascent (None where N = 0)."""

    loss: Tensor
    robust: Tensor
    regulariser: Tensor
    rtd: Tensor
    z: Tensor
    z_pos: Tensor
    z_adv: Tensor | None
    ascent: Ascent | None


def step(
    lookup: Lookup,
    encode: Encode,
    discriminate: Discriminate | None,
    *,
    ids: Tensor,
    real: Tensor,
    perturbable: Tensor,
    filled_ids: Tensor | None,
    delta0: Tensor | None,
    table: Tensor | None,
    rows: list[int] | None = None,
    p_tok: Sequence[Tensor] = (),
    p_fea: Sequence[Tensor] = (),
    temperature: float = 0.05,
    lambda1: float = 1 / 128,
    lambda2: float = 0.005,
    second_positive: str = "inside",
    adversarial_negatives: str = "excluded",
    z_adv_eta: str = "without",
    rtd_reduction: str = "mean",
    rtd_h: str = "after_head",
    rtd_skips_first: bool = True,
    ascent: Mapping[str, object] | None = None,
) -> Step:
    """One step; `ascent` = fields of players_reference.Options. h of D is the first view's.

    delta0 None means N = 0: no ascent, no adversarial view, no eta; lambda1 and weakening are then refused.
    discriminate and filled_ids may be None where lambda2 = 0.
    """
    assert delta0 is not None or (lambda1 == 0 and not p_tok)
    embeddings = lookup(ids)
    zero = torch.zeros((), dtype=torch.float64)
    found = None
    if delta0 is not None:
        found = inner(
            encode,
            embeddings,
            delta0=delta0,
            table=table,
            ids=ids,
            perturbable=perturbable,
            real=real,
            rows=rows,
            p_tok=p_tok,
            p_fea=p_fea,
            temperature=temperature,
            **(ascent or {}),
        )
    z, before_head = encode(embeddings, [], "z")
    z_pos, _ = encode(embeddings, [], "z_pos")
    z_adv = adversarial_view(encode, embeddings, found, z_adv_eta) if found else None
    robust = robust_term(
        z,
        z_pos,
        z_adv,
        temperature=temperature,
        second_positive=second_positive,
        adversarial_negatives=adversarial_negatives,
    )
    regulariser = replaced = zero
    if z_adv is not None:
        regulariser = regulariser_term(
            z_pos, z_adv, temperature=temperature, adversarial_negatives=adversarial_negatives
        )
    if lambda2 != 0:
        assert discriminate is not None
        assert filled_ids is not None
        h = {"after_head": z, "before_head": before_head}[rtd_h]
        edited = lookup(filled_ids) if found is None else lookup(filled_ids) + found.eta  # X_adv of eq 8
        replaced = rtd(
            discriminate(edited, h),
            ids,
            filled_ids,
            real,
            reduction=rtd_reduction,
            skips_first=rtd_skips_first,
        )
    loss = total(robust, regulariser, replaced, lambda1=lambda1, lambda2=lambda2)
    return Step(
        loss=loss,
        robust=robust,
        regulariser=regulariser,
        rtd=replaced,
        z=z,
        z_pos=z_pos,
        z_adv=z_adv,
        ascent=found,
    )


def inner(encode: Encode, embeddings: Tensor, **arguments: Any) -> Ascent:
    """Inner z_pos = f(X) once, constant; then Algorithm 1. The views "inner*" tell `encode`: no dropout."""
    constant = embeddings.detach()
    z_pos = encode(constant, [], "inner_pos")[0].detach()
    return ascend(lambda points, weights: encode(points, weights, "inner")[0], constant, z_pos, **arguments)


def adversarial_view(encode: Encode, embeddings: Tensor, found: Ascent, z_adv_eta: str) -> Tensor:
    """z_adv = f(X + delta_final; final masks), `with` eta or `without`; all constants except X."""
    if z_adv_eta not in ("with", "without"):
        raise ValueError(z_adv_eta)
    points = embeddings + found.delta_final
    if z_adv_eta == "with":
        points = points + found.eta
    return encode(points, found.weights, "z_adv")[0]
