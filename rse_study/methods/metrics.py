"""Metrics that several methods share."""

from collections.abc import Sequence

from rse_study.collectives import Collectives
from rse_study.methods.method import Mean, Networks, RunContext, StepOutcome
from rse_study.perturbations.ascent import Ascent, Change
from rse_study.perturbations.sentence_level import DeltaState
from rse_study.tensors import Bool, Float, Tensor, nn, torch

Terms = dict[str, tuple[float, Tensor]]
"""Weight and values of each term of a loss, which add up to it."""


def inner_losses(ascent: Ascent, num_rows: int, chance: float) -> dict[str, Mean]:
    """Return the losses of the first and last inner pass, each before its update.

    `inner/rise` is the rise from the first pass to the end, by `chance`: a sentence's loss where nothing is known.
    """
    if not ascent.losses:
        return {}
    count = float(num_rows)
    metrics = {"inner/first": Mean(ascent.losses[0], count), "inner/last": Mean(ascent.losses[-1], count)}
    if ascent.at_end is not None:
        metrics["inner/rise"] = Mean(ascent.at_end - ascent.losses[0], count * chance)
    return metrics


def movement(state: DeltaState, name: str) -> dict[str, Mean]:
    """Return how far a perturbation has moved, by its start and by its bound."""
    return {name: Mean.among(*state.moved()), f"{name}_of_bound": Mean.among(*state.moved_of_bound())}


def weakened(change: Change, mask: Bool[Tensor, "n l"]) -> dict[str, Mean]:
    """Return the shares of tokens and of features that masks weaken, over all sites."""
    if not change.masks:
        return {}
    tokens = torch.stack([1 - site.tokens for site in change.masks])
    features = torch.stack([1 - site.features for site in change.masks]).flatten()
    return {"masks/tokens": Mean.among(tokens, mask.expand_as(tokens)), "masks/features": Mean.over(features)}


def term_shares(terms: Terms, networks: Networks, run: RunContext) -> dict[str, Mean]:
    """Return each term's share in loss and gradient, if the step is reported.

    Gradients are those of the encoder's last layer, the last that all terms share (GradNorm, Chen et al. 2018): a
    backward pass through it alone.
    """
    if not run.is_reported:
        return {}
    losses = {name: weight * values.detach().sum() for name, (weight, values) in terms.items()}
    whole = sum(losses.values())
    shares = {f"loss_share/{name}": Mean(loss, whole) for name, loss in losses.items()}
    if len(terms) == 1:
        return shares
    layer = networks.encoder.last_layer()
    norms = {
        name: weight * gradient_norm(values.sum(), layer, run.collectives) / run.collectives.size
        for name, (weight, values) in terms.items()
    }
    return shares | {
        f"gradient_share/{name}": Mean(norm, sum(norms.values())) for name, norm in norms.items()
    }


def reported(
    loss: Tensor, metrics: dict[str, Mean], terms: Terms, networks: Networks, run: RunContext
) -> StepOutcome:
    """Return a step's outcome: its metrics, the loss and the shares of its terms."""
    metrics = metrics | {"loss": Mean(loss.detach(), 1 / run.collectives.size)}
    return StepOutcome(loss, metrics | term_shares(terms, networks, run))


def gradient_ratio(term: Tensor, reference: Tensor, networks: Networks, collectives: Collectives) -> Mean:
    """Return ||grad term||_2 / ||grad reference||_2 over all parameters and workers.

    It takes two more backward passes; both losses can still be differentiated afterwards.
    """
    parameters = [p for p in networks.parameters() if p.requires_grad]
    ratio = gradient_norm(term, parameters, collectives) / gradient_norm(reference, parameters, collectives)
    return Mean(ratio / collectives.size, 1 / collectives.size)


def gradient_norm(
    loss: Float[Tensor, ""], parameters: Sequence["nn.Parameter"], collectives: Collectives
) -> Float[Tensor, ""]:
    """Return ||grad loss||_2 over all workers; the loss can still be differentiated."""
    gradients = torch.autograd.grad(loss, parameters, retain_graph=True, materialize_grads=True)
    return collectives.sum(torch.cat([gradient.flatten() for gradient in gradients])).norm()
