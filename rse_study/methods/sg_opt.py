"""SG-OPT: a sentence vector guided by the layers of its encoder before training."""

from typing import ClassVar, Literal

from pydantic import NonNegativeFloat, PositiveFloat, PositiveInt

from rse_study.data.batches import Batch
from rse_study.losses import info_nce, share_checks
from rse_study.methods.method import Mean, Method, MethodSource, Networks, RunContext, StepCost, StepOutcome
from rse_study.methods.views import Terms, reported
from rse_study.models import PairNetworks, SentenceEncoder, seeded_linear
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Collectives, Tensor, nn, torch


class SGOPT(Method):
    """L = mean over k of L_con(f(c), {f(h_k)}) + lambda * ||theta_T - theta_F||^2.

    Self-guided contrastive learning (Kim et al. 2021, L^opt3). c: the vector of the trained encoder T. h_k: the maximum
    over the tokens of hidden states k (0: the embedding block's) of F, a frozen copy of T before training, without
    dropout. Negatives are other sentences' h of all layers. f: Linear - GELU - Linear. Costs 1 call of T and 1 of F.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (*share_checks("guided", "L_con"), *share_checks("distance", "lambda L_reg"))
    source: ClassVar = MethodSource("Kim et al. 2021", "of section 3", ("0099-systems-of-the-tables",))
    unrecordable: ClassVar = ""
    num_sites: ClassVar = 1  # the least: it reads as many as there are
    cost: ClassVar = StepCost(ascent=0, num_views=1, clean=1)
    name: Literal["sg_opt"] = "sg_opt"
    """the method"""
    temperature: PositiveFloat = field(0.01, symbol="tau")
    """what cosines are divided by in L_con"""
    weight: NonNegativeFloat = field(0.1, symbol="lambda")
    """weight of the squared distance of T's parameters from F's"""
    hidden: PositiveInt = 4096
    """units of the hidden layer of f"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> PairNetworks:
        encoder.require_sites(self.num_sites)
        generator, width = streams.generator("init", 0), encoder.hidden_size
        first = seeded_linear(width, self.hidden, generator)
        second = seeded_linear(self.hidden, width, generator)
        return PairNetworks(encoder, nn.Sequential(first, nn.GELU(), second), is_frozen=True)

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        assert isinstance(networks, PairNetworks)
        words = networks.encoder.word_embeddings(batch.ids)
        with run.dropout(step, "outer", batch.ids.device), run.autocast():
            c = networks.encoder(words, batch.mask, batch.ids, places=batch.real_places)
            vectors = torch.cat([c[:, None], networks.layer_maxima(batch)], dim=1)
            projected = networks.head(vectors).to(words.dtype)
        c, h = projected[:, :1].expand_as(projected[:, 1:]), projected[:, 1:]
        num_states, others = h.shape[1], run.collectives.gather(h).flatten(0, 1)
        own = run.own(batch).repeat_interleave(num_states, 0).repeat_interleave(num_states, 1)
        losses = info_nce(c.flatten(0, 1), h.flatten(0, 1)[None], others, own, self.temperature)
        terms: Terms = {"guided": (1 / (batch.num_rows * num_states), losses)}
        if self.weight > 0:
            terms["distance"] = (self.weight, networks.squared_distance() / run.collectives.size)
        loss = torch.stack([weight * values.sum() for weight, values in terms.values()]).sum()
        return reported(loss, {"loss/guided": Mean.over(losses)}, terms, networks, run)
