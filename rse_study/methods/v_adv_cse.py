"""V-advCSE: contrastive loss plus the effect of a virtual adversarial step."""

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, NonNegativeInt

from rse_study.data.batches import Batch
from rse_study.losses import LOG_2, TERMS, DivergenceKind, divergence
from rse_study.methods.method import ContrastiveMethod, Mean, MethodSource, RunContext, StepCost, StepOutcome
from rse_study.methods.views import encode_views, gradient_ratio, inner_losses, movement, reported
from rse_study.models import Networks
from rse_study.models.pooling import HeadKind, in_mode
from rse_study.perturbations.ascent import INNER_RISE, Anchor, Change, ascend, frozen
from rse_study.perturbations.sentence_level import VirtualAdversarial
from rse_study.spec import field
from rse_study.tensors import Float, Tensor, torch


class VAdvCSE(ContrastiveMethod):
    """L = L_con(z, {z_pos}) + lambda * F(p(f(X)), p(f(X + r))) (V-advCSE eqs 8-10).

    The clean branch has no gradient. F is summed over the batch, and no branch of it has dropout. `output: features`
    reads p as the softmax over the vector's features, `similarities` as that over its cosines with the batch's clean
    vectors. lambda 0 is SimCSE with this head. Costs K + 3 encoder calls.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (*INNER_RISE, *VirtualAdversarial.checks, *TERMS["contrastive"], *TERMS["virtual"])
    source: ClassVar[MethodSource] = MethodSource("V-advCSE", "7-14", ("0007-readings-of-the-relatives",))
    takes_views: ClassVar = True
    name: Literal["v_adv_cse"] = "v_adv_cse"
    """the method"""
    r: VirtualAdversarial = Field(default_factory=VirtualAdversarial)
    """the virtual adversarial perturbation r"""
    divergence: DivergenceKind = "js"
    """F: Kullback-Leibler, its mean over both directions, or Jensen-Shannon"""
    output: Literal["features", "similarities"] = "features"
    """p, a softmax over z's features, or over its cosines with the batch's clean z, divided by tau"""
    weight: NonNegativeFloat = field(1e-6, symbol="lambda")
    """weight of F; 0 is SimCSE with this head"""
    head: HeadKind = "batch_norm"
    """map of the pooled vector to z in training; evaluation drops it"""
    ratio_every: NonNegativeInt = field(0, neutral=0)
    """steps between two measurements of lambda |grad F| / |grad L_con|, which change no number; 0: never"""

    @property
    def unrecordable(self) -> str:
        return "ratio_every measures at some steps only. Set ratio_every: 0" if self.ratio_every else ""

    @property
    def cost(self) -> StepCost:
        if self.weight == 0:
            return StepCost(ascent=0, num_views=2)
        return StepCost(self.r.num_steps, num_views=3, clean=1)

    def foreseen(self, batch_size: int) -> dict[str, float]:
        # JS is at most ln 2 a sentence; KL has no bound.
        if self.weight == 0 or self.divergence != "js" or batch_size == 1:
            return {}
        return {"loss_share/virtual": self.weight * batch_size * LOG_2 / math.log(batch_size)}

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        embeddings = networks.encoder.word_embeddings(batch.ids)
        views = encode_views(networks, embeddings, None, (), batch, run, step, shares_first=False)
        losses = self.contrastive(views.z, views.z_pos, batch, run, *views.z_neg)
        loss, metrics = losses.sum() / batch.num_rows, {"loss/contrastive": Mean.over(losses)}
        terms = {"contrastive": (1 / batch.num_rows, losses)}
        if self.weight > 0:
            virtual, found = self._virtual(networks, embeddings, batch, run, step)
            weighted = self.weight * virtual
            if self.ratio_every and (step + 1) % self.ratio_every == 0:
                found["virtual/gradient_ratio"] = gradient_ratio(weighted, loss, networks, run.collectives)
            loss, metrics = loss + weighted, metrics | found
            terms["virtual"] = (self.weight, virtual)
        return reported(loss, metrics, terms, networks, run)

    def _virtual(
        self, networks: Networks, embeddings: Float[Tensor, "b l d"], batch: Batch, run: RunContext, step: int
    ) -> tuple[Float[Tensor, ""], dict[str, Mean]]:
        """Return F at the r found, summed over this worker's rows, and its metrics."""
        start = embeddings.detach()
        anchor = Anchor(start, batch.all_perturbable(), step)
        with frozen(networks):
            distance = _Distance.at(self, networks, anchor, run)
            ascent = ascend(
                lambda change: distance(anchor.embeddings, change).sum(),
                [self.r],
                [self.r.init(anchor, run.streams)],
                looks_at_end=run.is_reported,
            )
        r = ascent.states[0]
        with in_mode(networks, training=False):
            apart = distance(embeddings, Change(r.delta.detach()))
        return apart.sum(), {
            "loss/virtual": Mean(
                apart.detach().sum(), 1 / run.collectives.size
            ),  # a sum over the batch, as in F
            "r/norm": Mean.over(r.delta.flatten(1).norm(dim=1)),
            **inner_losses(ascent, len(batch.rows), LOG_2),
            **(movement(r, "r/moved") if run.is_reported else {}),
        }


@dataclass(frozen=True)
class _Distance:
    method: VAdvCSE
    networks: Networks
    anchor: Anchor
    run: RunContext
    moments: Any
    keys: Float[Tensor, "g d"]
    clean: Float[Tensor, "b n"]

    @classmethod
    def at(cls, method: VAdvCSE, networks: Networks, anchor: Anchor, run: RunContext) -> "_Distance":
        """Encode f(X) once, without gradient; its head moments serve every perturbed pass."""
        with torch.no_grad(), run.autocast():
            z, moments = networks.project(anchor.embeddings, anchor.batch)
        keys = run.collectives.gather(z).detach()
        return cls(method, networks, anchor, run, moments, keys, _log_output(method, z, keys))

    def __call__(self, embeddings: Float[Tensor, "b l d"], change: Change) -> Float[Tensor, " b"]:
        assert change.addition is not None
        with self.run.autocast():
            z, _ = self.networks.project(embeddings + change.addition, self.anchor.batch, self.moments)
        return divergence(self.clean, _log_output(self.method, z, self.keys), self.method.divergence)


def _log_output(method: VAdvCSE, z: Float[Tensor, "b d"], keys: Float[Tensor, "g d"]) -> Float[Tensor, "b n"]:
    """Return log p: over z's features (temperature 1), or its cosines with clean z."""
    if method.output == "features":
        return z.log_softmax(-1)
    normal = torch.nn.functional.normalize
    return (normal(z, dim=-1) @ normal(keys, dim=-1).T / method.temperature).log_softmax(-1)
