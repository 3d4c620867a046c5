"""KL, symmetric KL and Jensen-Shannon divergence (V-advCSE eqs 11-14)."""

from typing import Literal

from rse_study.tensors import Float, Tensor

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
