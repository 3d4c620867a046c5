"""Equation 8, token by token, from the discriminator's probabilities.

D(X_adv, h, j) is, by the letter of eq 8, the probability that token j is the *original* one (its log is paid
where x''_j = x_j). A discriminator whose logit means "replaced" has probability sigmoid(-logit) here.
"""

import torch
from torch import Tensor


def token_loss(probability: Tensor, is_original: bool) -> Tensor:
    """-log D where the token is the original one, -log(1 - D) where it was replaced."""
    if is_original:
        return -torch.log(probability)
    return -torch.log(1.0 - probability)


def rtd(
    probability: Tensor,
    ids: Tensor,
    filled_ids: Tensor,
    real: Tensor,
    *,
    reduction: str = "mean",
    skips_first: bool = True,
) -> Tensor:
    """Eq 8 over a batch: probability [b l], ids and filled_ids (x and x'') [b l], real [b l] bool.

    The target compares token ids by position. reduction: `mean` over the batch's real tokens; `mean_padding`
    over all positions, padding being tokens that were not replaced; `sum` (paper) over real tokens. Position 0
    holds h and is left out of the sum and of the count in all three: our reading
    (`skips_first=False` counts it, as eq 8's j = 1..|x| does).
    """
    if reduction not in ("mean", "mean_padding", "sum"):
        raise ValueError(reduction)
    loss, count = 0.0 * probability.sum(), 0
    for i in range(len(ids)):
        for j in range(len(ids[i])):
            if skips_first and j == 0:
                continue
            if not bool(real[i][j]) and reduction != "mean_padding":
                continue
            loss = loss + token_loss(probability[i][j], int(filled_ids[i][j]) == int(ids[i][j]))
            count = count + 1
    if reduction == "sum":
        return loss
    return loss / count


def accuracy(probability: Tensor, ids: Tensor, filled_ids: Tensor, real: Tensor) -> float:
    """Share of the batch's real tokens, position 0 left out, on whose side of one half D stands."""
    right = count = 0
    for i in range(len(ids)):
        for j in range(1, len(ids[i])):
            if bool(real[i][j]):
                says_original = float(probability[i][j]) > 0.5
                right += says_original == (int(filled_ids[i][j]) == int(ids[i][j]))
                count += 1
    return right / count
