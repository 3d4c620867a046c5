"""Losses, pure functions of tensors, and the manipulation checks of their terms."""

from typing import Literal

from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck
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


def replaced_token_detection(
    logits: Float[Tensor, "b l"], replaced: Bool[Tensor, "b l"]
) -> Float[Tensor, "b l"]:
    """Return the loss of each token, with D = sigmoid(logit) (RobustSentEmbed eq 8).

    -log D where x''_j = x_j, and -log(1 - D) where the token was replaced. The caller chooses which tokens
    count and how to average.
    """
    original = (~replaced).to(logits.dtype)
    return F.binary_cross_entropy_with_logits(logits, original, reduction="none")


DivergenceKind = Literal["kl", "symmetric_kl", "js"]
LOG_2 = 0.6931471805599453


def divergence(
    log_p: Float[Tensor, "b n"], log_q: Float[Tensor, "b n"], kind: DivergenceKind
) -> Float[Tensor, " b"]:
    """Return the divergence of each row of q from that of p.

    Parameters
    ----------
    log_p, log_q
        Log probabilities; -inf where an outcome has probability 0 in both.
    kind
        KL(p || q), its mean over both directions, or Jensen-Shannon.
    """
    if kind == "kl":
        return _kl(log_p, log_q)
    if kind == "symmetric_kl":
        return (_kl(log_p, log_q) + _kl(log_q, log_p)) / 2
    middle = log_p.logaddexp(log_q) - LOG_2
    return (_kl(log_p, middle) + _kl(log_q, middle)) / 2


def _kl(log_p: Float[Tensor, "b n"], log_q: Float[Tensor, "b n"]) -> Float[Tensor, " b"]:
    """Sum over outcomes with p > 0; the others contribute 0, not NaN."""
    possible = log_p > -float("inf")
    return (log_p.exp() * (log_p - log_q).where(possible, 0)).sum(-1)


def share_checks(name: str, part: str) -> Checks:
    """Return the checks of a term's share in the gradient's norm and in the loss."""
    return tuple(
        ManipulationCheck(f"{share}{name}", part, *LIMITS[share], f"the row without {part}")
        for share in ("gradient_share/", "loss_share/")
    )


TERMS: dict[str, Checks] = {
    "contrastive": share_checks("contrastive", "L_con"),
    "adversarial": share_checks("adversarial", "lambda1 L_con(z_adv, {z_pos})"),
    "rtd": (
        *share_checks("rtd", "lambda2 L_RTD"),
        ManipulationCheck(
            "rtd/replaced", "the generator G", *LIMITS["rtd/replaced"], "L_RTD with nothing to detect"
        ),
        ManipulationCheck(
            "rtd/detected", "the discriminator D", *LIMITS["rtd/detected"], "L_RTD that asks for a rate alone"
        ),
    ),
    "virtual": share_checks("virtual", "lambda F"),
    "align": share_checks("align", "the alignment of both views"),
    "masked_lm": share_checks("masked_lm", "the masked LM"),
}  # fmt: skip
"""Terms of the methods of the papers; a method adds `share_checks` of a term of its own to its `checks`."""
