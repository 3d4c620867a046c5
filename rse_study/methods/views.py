"""The outer pass of RobustSentEmbed: all views of a batch, with gradient."""

from dataclasses import dataclass

from rse_study.data.batches import Batch
from rse_study.methods.method import Networks, RunContext
from rse_study.tensors import Float, Tensor, torch


@dataclass(frozen=True)
class Views:
    """Embeddings of one batch's views, after the head."""

    z: Float[Tensor, "b d"]
    z_pos: Float[Tensor, "b d"]
    z_adv: Float[Tensor, "b d"] | None
    pooled: Float[Tensor, "b d"]


def encode_views(
    networks: Networks,
    embeddings: Float[Tensor, "b l d"],
    added: Float[Tensor, "b l d"] | None,
    weights: tuple[Float[Tensor, "b l d"], ...],
    batch: Batch,
    run: RunContext,
    step: int,
    *,
    shares_first: bool,
) -> Views:
    """Encode z = f(X; m1), z_pos = f(X; m2) and, if `added`, z_adv = f(X + added; m3).

    `weights` weaken the first sites of z_adv; they and `added` are constants. With `shares_first`, z_adv has
    z's masks.
    """
    inputs = [embeddings, embeddings] + ([] if added is None else [embeddings + added.detach()])
    weights = tuple(weight.detach() for weight in weights)

    def encode(rows: list[Tensor], weakened: tuple[Tensor, ...], name: str) -> Tensor:
        all_rows = batch.repeated(len(rows))
        with run.dropout(step, name, batch.ids.device), run.autocast():
            return networks.encoder(
                torch.cat(rows), all_rows.mask, all_rows.ids, weakened, places=all_rows.real_places
            )

    if shares_first and added is not None:
        # Algorithm 1 to the letter: z and z_adv share a seed, so every view has its own pass; N + 4 calls in all.
        names, weakened = ("outer/1", "outer/2", "outer/1"), ((), (), weights)
        pooled = [encode([rows], w, name) for rows, w, name in zip(inputs, weakened, names, strict=True)]
    else:
        # All views as rows of one pass under one seed: independent masks. Only z_adv, the last one, is weakened.
        only_last = tuple(torch.cat([torch.ones_like(w), torch.ones_like(w), w]) for w in weights)
        pooled = list(encode(inputs, only_last, "outer").split(len(batch.rows)))
    return _project(networks, pooled, run, embeddings.dtype)


def _project(networks: Networks, pooled: list[Tensor], run: RunContext, dtype: "torch.dtype") -> Views:
    """Apply the head to each view with its own moments; z's move the running ones."""
    with run.autocast():
        projected = [networks.head(view) for view in pooled]
    networks.head.update(projected[0][1])
    z, z_pos, *adversarial = (rows.to(dtype) for rows, _ in projected)
    return Views(z, z_pos, adversarial[0] if adversarial else None, pooled[0].to(dtype))
