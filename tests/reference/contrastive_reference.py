"""Equation 9 for one anchor, its mean over the batch, and the contrastive part of equation 10, by loops.

`z`, `z_pos`, `z_adv` are float64 [b d]; every result is a 0-d float64 tensor that autograd can differentiate.
"""

import torch
from torch import Tensor


def cosine(u: Tensor, v: Tensor) -> Tensor:
    """sim(u, v) = u.v / (||u|| ||v||) of two [d] vectors; 0, with zero gradient, if either vector is 0."""
    dot, u_squared, v_squared = (u * v).sum(), (u * u).sum(), (v * v).sum()
    if u_squared.item() == 0.0 or v_squared.item() == 0.0:
        return 0.0 * (u.sum() + v.sum())
    return dot / (torch.sqrt(u_squared) * torch.sqrt(v_squared))


def contrastive_anchor(
    i: int, z: Tensor, positives: list[Tensor], negatives: list[Tensor], *, temperature: float
) -> Tensor:
    """Eq 9, anchor z_i: -log(own / (own + others)), own = sum_p e^{sim(z_i, p_i)/tau}, p over `positives`,
    others = sum_n sum_{j != i} e^{sim(z_i, n_j)/tau}, n over `negatives`.

    Both lists hold [b d] tables: of a positive only row i is used, of a negative every row but i.
    """
    own = torch.zeros((), dtype=torch.float64)
    for table in positives:
        own = own + torch.exp(cosine(z[i], table[i]) / temperature)
    others = torch.zeros((), dtype=torch.float64)
    for table in negatives:
        for j in range(len(table)):
            if j != i:
                others = others + torch.exp(cosine(z[i], table[j]) / temperature)
    return -torch.log(own / (own + others))


def contrastive(z: Tensor, positives: list[Tensor], negatives: list[Tensor], *, temperature: float) -> Tensor:
    """Mean of eq 9 over the anchors of the (global) batch."""
    loss = torch.zeros((), dtype=torch.float64)
    for i in range(len(z)):
        loss = loss + contrastive_anchor(i, z, positives, negatives, temperature=temperature)
    return loss / len(z)


def robust_term(
    z: Tensor,
    z_pos: Tensor,
    z_adv: Tensor | None,
    *,
    temperature: float,
    second_positive: str = "inside",
    adversarial_negatives: str = "excluded",
) -> Tensor:
    """First term of eq 10, L_con(z, {z_pos, z_adv}).

    second_positive: `inside` one log over both positives; `outside` L_con(z, {z_pos}) + L_con(z, {z_adv}),
    both with the same negatives; `none`, or no adversarial view (z_adv None), L_con(z, {z_pos}).
    """
    negatives = negative_tables(z_pos, z_adv, adversarial_negatives)
    if z_adv is None or second_positive == "none":
        return contrastive(z, [z_pos], negatives, temperature=temperature)
    if second_positive == "inside":
        return contrastive(z, [z_pos, z_adv], negatives, temperature=temperature)
    if second_positive == "outside":
        first = contrastive(z, [z_pos], negatives, temperature=temperature)
        return first + contrastive(z, [z_adv], negatives, temperature=temperature)
    raise ValueError(second_positive)


def regulariser_term(
    z_pos: Tensor, z_adv: Tensor, *, temperature: float, adversarial_negatives: str = "excluded"
) -> Tensor:
    """Second term of eq 10 without its weight: L_con(z_adv, {z_pos})."""
    negatives = negative_tables(z_pos, z_adv, adversarial_negatives)
    return contrastive(z_adv, [z_pos], negatives, temperature=temperature)


def negative_tables(z_pos: Tensor, z_adv: Tensor | None, adversarial_negatives: str) -> list[Tensor]:
    """`excluded`: other sentences' z_pos alone. `included`: their z_adv too.

    Our reading of `included` (no paper has it): z_adv_j (j != i) joins the denominators of *both*
    contrastive terms of eq 10 (of both halves where the second positive is outside), never the inner loss.
    """
    if adversarial_negatives == "excluded" or z_adv is None:
        return [z_pos]
    if adversarial_negatives == "included":
        return [z_pos, z_adv]
    raise ValueError(adversarial_negatives)


def total(robust: Tensor, regulariser: Tensor, rtd: Tensor, *, lambda1: float, lambda2: float) -> Tensor:
    """Eq 10: L_con(z, {z_pos, z_adv}) + lambda1 * L_con(z_adv, {z_pos}) + lambda2 * L_RTD."""
    return robust + lambda1 * regulariser + lambda2 * rtd
