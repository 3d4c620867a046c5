"""The views of a batch, and metrics, as several methods share them."""

from collections.abc import Sequence
from dataclasses import dataclass

from rse_study.data.batches import Batch
from rse_study.methods.method import Mean, Networks, RunContext, StepOutcome
from rse_study.perturbations.ascent import Ascent, Change
from rse_study.perturbations.sentence_level import DeltaState
from rse_study.tensors import Bool, Collectives, Float, Tensor, nn, torch


@dataclass(frozen=True)
class Views:
    """Embeddings of one batch's views, after the head."""

    z: Float[Tensor, "b d"]
    z_pos: Float[Tensor, "b d"]
    z_adv: Float[Tensor, "b d"] | None
    pooled: Float[Tensor, "b d"]
    z_neg: tuple[Float[Tensor, "b d"], ...] = ()


def encode_views(
    networks: Networks,
    embeddings: Float[Tensor, "b l e"],
    added: Float[Tensor, "b l e"] | None,
    weights: tuple[Float[Tensor, "b l d"], ...],
    batch: Batch,
    run: RunContext,
    step: int,
    *,
    shares_first: bool,
) -> Views:
    """Encode z = f(X; m1), z_pos = f(X; m2) and, if `added`, z_adv = f(X + added; m3).

    With `views`, z_pos and z_neg are of other texts, rows of the same pass. `weights` weaken the first sites of z_adv;
    they and `added` are constants. With `shares_first`, z_adv has z's masks.
    """
    inputs = networks.points_of(embeddings, batch)
    num_texts = len(inputs)
    inputs += [] if added is None else [embeddings + added.detach()]
    weights = tuple(weight.detach() for weight in weights)

    def encode(points: Tensor, rows: Batch, weakened: tuple[Tensor, ...], name: str) -> Tensor:
        with run.dropout(step, name, batch.ids.device), run.autocast():
            return networks.encoder(points, rows.mask, rows.ids, weakened, places=rows.real_places)

    if shares_first and added is not None:
        # Algorithm 1 to the letter: z and z_adv share a seed, so every view has its own pass; N + 4 calls in all.
        names = [*("outer/1", "outer/2", "outer/3")[:num_texts], "outer/1"]
        pooled = [*map(encode, inputs, [*batch.texts, batch], [*[()] * num_texts, weights], names)]
    else:
        # All views as rows of one pass under one seed: independent masks. Only z_adv, the last one, is weakened.
        only_last = tuple(torch.cat([*[torch.ones_like(w)] * num_texts, w]) for w in weights)
        rows = batch.repeated(len(inputs))
        pooled = list(encode(torch.cat(inputs), rows, only_last, "outer").split(len(batch.rows)))
    with run.autocast():
        projected = [networks.head(view) for view in pooled]  # by the moments of each view
    networks.head.update(projected[0][1])
    z, z_pos, *others = (rows.to(embeddings.dtype) for rows, _ in projected)
    z_neg, z_adv = others[: num_texts - 2], others[num_texts - 2 :]
    return Views(z, z_pos, z_adv[0] if z_adv else None, pooled[0].to(embeddings.dtype), (*z_neg,))


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
