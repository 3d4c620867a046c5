"""ATCL: a contrastive loss, and another against an adversarial view of one step."""

import math
from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, PositiveFloat

from rse_study.data.batches import Batch
from rse_study.losses import TERMS, share_checks
from rse_study.methods.method import ContrastiveMethod, Mean, MethodSource, RunContext, StepCost, StepOutcome
from rse_study.methods.views import reported
from rse_study.models import Networks
from rse_study.perturbations.ascent import INNER_RISE
from rse_study.perturbations.geometry import unit
from rse_study.spec import field
from rse_study.tensors import Tensor, torch


class ATCL(ContrastiveMethod):
    """L = L_con(z, {z_pos}) + lambda * L_con(z, {z_adv}) (Rim et al. 2021).

    z_adv = f(X + r), r = epsilon * g / ||g||_2 of each sentence, over its tokens without the special ones. g is the
    gradient of the first term by X, through all of its views; r is a constant. Negatives of the second term are the
    other sentences' z_adv. lambda 0 is SimCSE. Costs 2 encoder calls, and one gradient to the inputs.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (*INNER_RISE, *TERMS["contrastive"], *share_checks("z_adv", "L_con(z, {z_adv})"))
    source: ClassVar = MethodSource("Rim et al. 2021", "of its method", ("0099-systems-of-the-tables",))
    unrecordable: ClassVar = ""
    takes_views: ClassVar = True
    name: Literal["atcl"] = "atcl"
    """the method"""
    epsilon: PositiveFloat = field(1.0, symbol="epsilon")
    """l2 norm of r, the move of a sentence's word embeddings"""
    weight: NonNegativeFloat = field(1.0, symbol="lambda")
    """weight of L_con(z, {z_adv}); 0 is SimCSE"""

    @property
    def cost(self) -> StepCost:
        if self.weight == 0:
            return StepCost(ascent=0, num_views=2)
        return StepCost(ascent=1, num_views=3, views_per_ascent=2, num_shared=2)

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        embeddings = networks.encoder.word_embeddings(batch.ids)
        points = networks.points_of(embeddings, batch)
        rows, num_views = batch.repeated(len(points)), len(points)
        with run.dropout(step, "outer", batch.ids.device), run.autocast():
            z, z_pos, *z_neg, moments = networks.project_views(torch.cat(points), rows, num_views=num_views)
        networks.head.update(moments)
        # The paper's first term is its task's, language modelling: a sentence encoder has this one.
        losses = self.contrastive(z, z_pos, batch, run, *z_neg)
        terms, metrics = {"contrastive": (1 / batch.num_rows, losses)}, dict[str, Mean]()
        if self.weight > 0:
            (g,) = torch.autograd.grad(losses.sum(), embeddings, retain_graph=True)
            along = unit(g.masked_fill(~batch.perturbable[:, :, None], 0).flatten(1), "l2")
            with run.dropout(step, "adversarial", batch.ids.device), run.autocast():
                z_adv, _ = networks.project(embeddings + self.epsilon * along.view_as(g), batch)
            second = self.contrastive(z, z_adv, batch, run, *z_neg)
            terms["z_adv"] = (self.weight / batch.num_rows, second)
            if run.is_reported:
                chance = len(losses) * math.log(batch.num_rows * (num_views - 1))
                metrics["inner/rise"] = Mean((second - losses).detach().sum(), chance)
        loss = torch.stack([weight * each.sum() for weight, each in terms.values()]).sum()
        metrics |= {f"loss/{name}": Mean.over(each) for name, (_, each) in terms.items()}
        return reported(loss, metrics, terms, networks, run)
