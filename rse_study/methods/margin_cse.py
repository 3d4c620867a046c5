"""MarginCSE: SimCSE that also asks for a margin to the hardest negative."""

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat

from rse_study.data.batches import Batch
from rse_study.losses.terms import share_checks
from rse_study.methods.base import ContrastiveMethod
from rse_study.methods.cost import StepCost
from rse_study.methods.method import Mean, MethodSource, Networks, RunContext, StepOutcome
from rse_study.methods.metrics import reported
from rse_study.spec import field
from rse_study.tensors import Bool, F, Float, Tensor, torch


class MarginCSE(ContrastiveMethod):
    """L = L_con(z, {z_pos}) + lambda * max(0, m - sim(z, z_pos) + max_j sim(z, z_j)).

    z and z_pos are of the same words under two dropout masks; z_j is the z_pos of another sentence of the global
    batch. Costs 2 encoder calls.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (*ContrastiveMethod.checks, *share_checks("hinge", "lambda times the hinge"))
    source: ClassVar[MethodSource] = MethodSource("none, SimCSE with a hinge", "none")
    name: Literal["margin_cse"] = "margin_cse"
    """the method"""
    margin: float = field(0.3, symbol="m", ge=0, le=2)
    """least difference between the cosines of the positive and of the hardest negative"""
    weight: NonNegativeFloat = field(1.0, symbol="lambda")
    """weight of the hinge"""

    @property
    def cost(self) -> StepCost:
        """Two views to train on, and no ascent."""
        return StepCost(ascent=0, num_views=2)

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        words = networks.encoder.word_embeddings(batch.ids)
        with run.dropout(step, "outer", words.device), run.autocast():
            z, z_pos, moments = networks.project_views(torch.cat([words, words]), batch.repeated(2))
        networks.head.update(moments)
        gathered = run.collectives.gather(z_pos)
        hinges = hinge(z, z_pos, gathered, run.own(batch), self.margin)
        terms = {
            "contrastive": (1 / batch.num_rows, self.contrastive(z, z_pos, batch, run)),
            "hinge": (self.weight / batch.num_rows, hinges),
        }
        loss = torch.stack([weight * losses.sum() for weight, losses in terms.values()]).sum()
        metrics = {f"loss/{name}": Mean.over(losses) for name, (_, losses) in terms.items()}
        return reported(loss, metrics, terms, networks, run)


def hinge(
    z: Float[Tensor, "b d"],
    z_pos: Float[Tensor, "b d"],
    others: Float[Tensor, "g d"],
    own: Bool[Tensor, "b g"],
    margin: float,
) -> Float[Tensor, " b"]:
    """Return by how much each anchor's hardest negative comes within the margin.

    An anchor without negatives has hinge 0 and gradient 0. `own` marks column j as the anchor's own sentence.
    """
    normal = F.normalize(z, dim=-1)
    positive = (normal * F.normalize(z_pos, dim=-1)).sum(-1)
    cosines = normal @ F.normalize(others, dim=-1).T
    hardest = cosines.masked_fill(own, torch.finfo(cosines.dtype).min).amax(1)
    return F.relu(margin - positive + hardest)
