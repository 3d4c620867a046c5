"""Replaced-token detection, token by token."""

from rse_study.tensors import Bool, F, Float, Tensor


def replaced_token_detection(
    logits: Float[Tensor, "b l"], replaced: Bool[Tensor, "b l"]
) -> Float[Tensor, "b l"]:
    """Return the loss of each token, D = sigmoid(logit) (RobustSentEmbed eq 8).

    -log D where x''_j = x_j, -log(1 - D) where it was replaced. The caller chooses which tokens count and how they
    are averaged.
    """
    original = (~replaced).to(logits.dtype)
    return F.binary_cross_entropy_with_logits(logits, original, reduction="none")
