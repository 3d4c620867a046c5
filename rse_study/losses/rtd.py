"""The token-level loss of replaced-token detection."""

from rse_study.tensors import Bool, F, Float, Tensor


def replaced_token_detection(
    logits: Float[Tensor, "b l"], replaced: Bool[Tensor, "b l"]
) -> Float[Tensor, "b l"]:
    """Return the loss of each token, with D = sigmoid(logit) (RobustSentEmbed eq 8).

    -log D where x''_j = x_j, and -log(1 - D) where the token was replaced. The caller chooses which tokens
    count and how to average.
    """
    original = (~replaced).to(logits.dtype)
    return F.binary_cross_entropy_with_logits(logits, original, reduction="none")
