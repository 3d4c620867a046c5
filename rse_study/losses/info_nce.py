"""The contrastive loss with any number of own positives."""

from rse_study.tensors import Bool, F, Float, Tensor, torch


def info_nce(
    z: Float[Tensor, "b d"],
    positives: Float[Tensor, "p b d"],
    others: Float[Tensor, "g d"],
    own: Bool[Tensor, "b g"],
    temperature: float,
) -> Float[Tensor, " b"]:
    """L_con of every anchor (RobustSentEmbed eq 9); the caller averages.

    -log( sum_p e^{sim(z_i, z_ip)/tau} / (sum_p e^{sim(z_i, z_ip)/tau} + sum_j e^{sim(z_i, o_j)/tau}) )

    All cosines come from one product of normalised rows; a zero vector has cosine 0. Written as log(1 + e^(n - p)), n
    and p the logs of the two sums: a small loss and its gradient keep all their digits (decision 0025).

    Parameters
    ----------
    z
        Anchors.
    positives
        Positives of each anchor.
    others
        z_pos of the whole global batch.
    own
        own[i, j]: column j is anchor i's own sentence, and no negative of its.
    temperature
        tau.
    """
    normal = F.normalize(z, dim=-1)
    positive = (normal * F.normalize(positives, dim=-1)).sum(-1) / temperature  # [p b]
    negative = normal @ F.normalize(others, dim=-1).T / temperature  # [b g]
    # Not -inf: an anchor without negatives has loss 0 and gradient 0, not NaN.
    negative = negative.masked_fill(own, torch.finfo(negative.dtype).min)
    return -F.logsigmoid(positive.logsumexp(0) - negative.logsumexp(1))
