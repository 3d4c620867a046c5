"""The contrastive loss with any number of positives per anchor."""

from rse_study.tensors import Bool, F, Float, Tensor, torch


def info_nce(
    z: Float[Tensor, "b d"],
    positives: Float[Tensor, "p b d"],
    others: Float[Tensor, "g d"],
    own: Bool[Tensor, "b g"],
    temperature: float,
) -> Float[Tensor, " b"]:
    """Return L_con of each anchor (RobustSentEmbed eq 9); the caller averages.

    -log( sum_p e^{sim(z_i, z_ip)/tau} / (sum_p e^{sim(z_i, z_ip)/tau} + sum_j e^{sim(z_i, o_j)/tau}) )

    All cosines come from one product of normalised rows; a zero vector has cosine 0. Computed as log(1 + e^(n
    - p)), where n and p are the logs of the two sums: a small loss and its gradient keep all their digits
    (decision 0025).

    Parameters
    ----------
    others
        z_pos of the whole global batch, the candidate negatives of every anchor.
    own
        own[i, j] marks column j as anchor i's own sentence, which is not a negative.
    """
    normal = F.normalize(z, dim=-1)
    positive = (normal * F.normalize(positives, dim=-1)).sum(-1) / temperature  # [p b]
    negative = normal @ F.normalize(others, dim=-1).T / temperature  # [b g]
    # Not -inf: an anchor without negatives has loss 0 and gradient 0, not NaN.
    negative = negative.masked_fill(own, torch.finfo(negative.dtype).min)
    return -F.logsigmoid(positive.logsumexp(0) - negative.logsumexp(1))
