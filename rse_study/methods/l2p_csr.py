"""L2P-CSR: two views of a sentence, weakened by masks that learn."""

import functools
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field

from rse_study.data.batches import Batch
from rse_study.losses import TERMS
from rse_study.methods.method import ContrastiveMethod, Mean, MethodSource, RunContext, StepCost, StepOutcome
from rse_study.methods.views import inner_losses, movement, reported, weakened
from rse_study.models import Networks
from rse_study.perturbations.ascent import INNER_RISE, Anchor, Ascent, Change, JointPass, ascend, frozen
from rse_study.perturbations.sentence_level import VirtualAdversarial
from rse_study.perturbations.site_masks import ViewMasks
from rse_study.tensors import Float, Tensor, torch

VIEWS = "views"  # the dropout stream: the ascent and the final pass share its masks


class L2PCSR(ContrastiveMethod):
    """L = L_con(z1, {z2}) over two weakened views (L2P-CSR eqs 1-9).

    Their masks are moved so that the loss rises. Eq 9 is printed without its minus and without the positive in its
    denominator; eqs 10-11 mean the usual loss, and so do we. `perturbs: embeddings` is the paper's row "Emb Noise":
    the ascent moves an addition to the word embeddings. Costs 2 (t + 1) encoder calls.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (*INNER_RISE, *ViewMasks.checks, *VirtualAdversarial.checks, *TERMS["contrastive"])
    source: ClassVar[MethodSource] = MethodSource("L2P-CSR", "1-9", ("0007-readings-of-the-relatives",))
    unrecordable: ClassVar = (
        "its ascent and its last pass share their dropout masks, and a recorded step draws new ones each time"
    )
    takes_views: ClassVar = True
    name: Literal["l2p_csr"] = "l2p_csr"
    """the method"""
    perturbs: Literal["masks", "embeddings"] = "masks"
    """what the ascent moves: weakening masks, or an addition to the word embeddings"""
    masks: ViewMasks = Field(default_factory=ViewMasks)
    """the weakening masks of both views"""
    # The paper gives no sizes for this row: we take V-advCSE's, the other such ascent, and the masks' number of steps.
    noise: VirtualAdversarial = VirtualAdversarial(num_steps=5)
    """the addition to the word embeddings, for `perturbs: embeddings`"""

    @property
    def num_sites(self) -> int:
        return self.masks.num_sites if self.perturbs == "masks" else 0

    @property
    def cost(self) -> StepCost:
        return StepCost(self.player.num_steps, num_views=2, views_per_ascent=2)

    @property
    def player(self) -> ViewMasks | VirtualAdversarial:
        return self.masks if self.perturbs == "masks" else self.noise

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        embeddings = networks.encoder.word_embeddings(batch.ids)
        twice = _Twice(self, networks, batch, run, step)
        anchor = twice.anchor(embeddings.detach())
        ascent, change = self._ascend(twice, anchor)
        losses, moments = twice.losses(torch.cat(networks.points_of(embeddings, batch)), change)
        networks.head.update(moments)
        loss = losses.sum() / batch.num_rows
        metrics = {
            "loss/contrastive": Mean.over(losses),
            **inner_losses(ascent, len(batch.rows), math.log(batch.num_rows * (len(batch.texts) - 1))),
            **weakened(change, anchor.mask),
        }
        if run.is_reported and self.perturbs == "embeddings":
            metrics |= movement(ascent.states[0], "r/moved")
        return reported(loss, metrics, {"contrastive": (1 / batch.num_rows, losses)}, networks, run)

    def token_masks(self, networks: Networks, batch: Batch, run: RunContext) -> Float[Tensor, "k n l"]:
        """Return token masks after the ascent by site, the second view's rows last."""
        twice = _Twice(self, networks, batch, run, 0)
        embeddings = networks.encoder.word_embeddings(batch.ids)
        _, change = self._ascend(twice, twice.anchor(embeddings.detach()))
        return torch.stack([site.tokens for site in change.masks])

    def _ascend(self, twice: "_Twice", anchor: Anchor) -> tuple[Ascent, Change]:
        """Move what the ascent moves, and return it as constants, too."""
        player: Any = self.player
        with frozen(twice.networks, training=True):
            ascent = ascend(
                lambda change: twice.losses(anchor.embeddings, change)[0].sum(),
                [player],
                [player.init(anchor, twice.run.streams)],
                OneMaskAView(twice) if self.masks.features == "shared" else JointPass(),
                looks_at_end=twice.run.is_reported,
            )
        return ascent, _constant(player.apply(ascent.states[0]))


@dataclass(frozen=True)
class OneMaskAView(JointPass):
    """A joint pass that sums each view's feature-mask gradients, on all workers."""

    twice: "_Twice"

    def share(self, gradients: list[Change], player: int) -> Change:
        """Return the one gradient, with equal rows in its feature masks."""
        (gradient,) = gradients
        sites = (replace(site, features=self._summed(site.features)) for site in gradient.masks)
        return replace(gradient, masks=tuple(sites))

    def _summed(self, features: Float[Tensor, "n d"]) -> Float[Tensor, "n d"]:
        views = features.chunk(len(self.twice.batch.texts))
        return torch.cat([self.twice.run.collectives.sum(v.sum(0, keepdim=True)).expand_as(v) for v in views])


@dataclass(frozen=True)
class _Twice:
    """Both views of a batch as the rows of one pass, the second below the first."""

    method: L2PCSR
    networks: Networks
    batch: Batch
    run: RunContext
    step: int

    def anchor(self, embeddings: Float[Tensor, "b l d"]) -> Anchor:
        """Return the start of both views, in which [CLS] may move like any token."""
        hidden_size = self.networks.encoder.hidden_size
        points = torch.cat(self.networks.points_of(embeddings, self.batch))
        return Anchor(points, self.rows.all_perturbable(), self.step, hidden_size)

    @functools.cached_property
    def rows(self) -> Batch:
        """Rows of all views, hard negatives too; noise of later ones is keyed by indices beyond the batch."""
        return self.batch.repeated(len(self.batch.texts))

    def losses(self, embeddings: Float[Tensor, "n l d"], change: Change) -> tuple[Float[Tensor, " b"], Any]:
        """Return each anchor's loss, with gradient to both views, and z1's moments."""
        points = embeddings if change.addition is None else embeddings + change.addition
        with self.run.dropout(self.step, VIEWS, points.device), self.run.autocast():
            given = points, self.rows, change.weights(), len(self.batch.texts)
            *views, moments = self.networks.project_views(*given)
        return self.method.contrastive(views[0], views[1], self.batch, self.run, *views[2:]), moments


def _constant(change: Change) -> Change:
    addition = None if change.addition is None else change.addition.detach()
    masks = tuple(
        replace(site, tokens=site.tokens.detach(), features=site.features.detach()) for site in change.masks
    )
    return Change(addition, masks)
