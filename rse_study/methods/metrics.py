"""Metrics that several methods share."""

from rse_study.collectives import Collectives
from rse_study.methods.method import Mean, Networks
from rse_study.perturbations.ascent import Ascent
from rse_study.tensors import Tensor, torch


def inner_losses(ascent: Ascent, num_rows: int) -> dict[str, Mean]:
    """Return the losses of the first and last inner pass, each before its update."""
    if not ascent.losses:
        return {}
    count = float(num_rows)
    return {"inner/first": Mean(ascent.losses[0], count), "inner/last": Mean(ascent.losses[-1], count)}


def gradient_ratio(term: Tensor, reference: Tensor, networks: Networks, collectives: Collectives) -> Mean:
    """Return ||grad term||_2 / ||grad reference||_2 over all parameters and workers.

    It takes two more backward passes; both losses can still be differentiated afterwards.
    """
    parameters = [p for p in networks.parameters() if p.requires_grad]

    def norm(loss: Tensor) -> Tensor:
        gradients = torch.autograd.grad(loss, parameters, retain_graph=True, materialize_grads=True)
        return collectives.sum(torch.cat([gradient.flatten() for gradient in gradients])).norm()

    return Mean((norm(term) / norm(reference)) / collectives.size, 1 / collectives.size)
