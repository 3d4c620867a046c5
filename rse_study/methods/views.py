"""The outer pass of RobustSentEmbed: all views of a batch, with gradient, in as few encoder calls as possible."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from rse_study.data.batches import Batch
from rse_study.methods.adversary import Found
from rse_study.methods.method import Networks, Run

if TYPE_CHECKING:
    from rse_study.methods.robust_sent_embed import RobustSentEmbed


@dataclass(frozen=True)
class Views:
    """Embeddings of one batch's views, after the head; `pooled` is the first view before it."""

    z: Float[Tensor, "b d"]
    z_pos: Float[Tensor, "b d"]
    z_adv: Float[Tensor, "b d"] | None
    pooled: Float[Tensor, "b d"]


def encode_views(
    method: "RobustSentEmbed",
    networks: Networks,
    embeddings: Float[Tensor, "b l d"],
    found: Found | None,
    batch: Batch,
    run: Run,
    step: int,
) -> Views:
    """z = f(X; m1), z_pos = f(X; m2), z_adv = f(X + delta_final; m3), found constants being constants."""
    inputs = [embeddings, embeddings]
    if found is not None:
        added = found.delta if method.z_adv_eta == "without" or found.eta is None else found.delta + found.eta
        inputs.append(embeddings + added.detach())
    weights = () if found is None else tuple(weight.detach() for weight in found.weights)
    if method.outer_dropout == "shared_first" and found is not None:
        pooled = _three_passes(networks, inputs, weights, batch, run, step)
    else:
        pooled = _one_pass(networks, inputs, weights, batch, run, step)
    return _project(networks, pooled, run, embeddings.dtype)


def _one_pass(
    networks: Networks,
    inputs: list[Tensor],
    weights: tuple[Tensor, ...],
    batch: Batch,
    run: Run,
    step: int,
) -> list[Tensor]:
    """All views as one batch of rows under one seed: their masks are independent."""
    num_views, num_rows = len(inputs), len(batch.rows)
    # Only z_adv, the last view, is weakened.
    padded = tuple(torch.cat([torch.ones_like(w), torch.ones_like(w), w]) for w in weights)
    mask, ids = batch.mask.repeat(num_views, 1), batch.ids.repeat(num_views, 1)
    with run.dropout(step, "outer", batch.ids.device), run.autocast():
        pooled = networks.encoder(torch.cat(inputs), mask, ids, padded)
    return list(pooled.split(num_rows))


def _three_passes(
    networks: Networks,
    inputs: list[Tensor],
    weights: tuple[Tensor, ...],
    batch: Batch,
    run: Run,
    step: int,
) -> list[Tensor]:
    """z and z_adv under the same masks m1 (Algorithm 1's letter): N + 4 encoder calls in all."""
    pooled = []
    for points, name, weakened in zip(
        inputs, ("outer/1", "outer/2", "outer/1"), ((), (), weights), strict=True
    ):
        with run.dropout(step, name, batch.ids.device), run.autocast():
            pooled.append(networks.encoder(points, batch.mask, batch.ids, weakened))
    return pooled


def _project(networks: Networks, pooled: list[Tensor], run: Run, dtype: torch.dtype) -> Views:
    """The head, once per view with moments of its own; only z's move the running ones."""
    with run.autocast():
        projected = [networks.head(view) for view in pooled]
    networks.head.update(projected[0][1])
    z, z_pos, *adversarial = (rows.to(dtype) for rows, _ in projected)
    return Views(z, z_pos, adversarial[0] if adversarial else None, pooled[0].to(dtype))
