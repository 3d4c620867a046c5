"""CT: two encoders that agree on a sentence and disagree on different ones."""

from typing import ClassVar, Literal

from pydantic import PositiveInt

from rse_study.data.batches import Batch
from rse_study.losses import share_checks
from rse_study.methods.method import Mean, Method, MethodSource, Networks, RunContext, StepCost, StepOutcome
from rse_study.methods.views import reported
from rse_study.models import PairNetworks, SentenceEncoder
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Collectives, F, Float, Tensor, nn, torch


class CT(Method):
    """L = -log s(t(x, x)) - sum over K negatives x' of log(1 - s(t(x, x'))) (CT).

    Contrastive Tension (Carlsson et al. 2021): t(x, x') = f1(x) . f2(x'), s the logistic function. Both encoders are
    trained and begin equal; f2 is kept and evaluated. Negatives are drawn from the batch. Costs 1 call of each.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = share_checks("tension", "the contrastive tension")[1:]  # its only term: of the loss
    source: ClassVar = MethodSource("Carlsson et al. 2021", "of its method", ("0099-systems-of-the-tables",))
    unrecordable: ClassVar = ""
    cost: ClassVar = StepCost(ascent=0, num_views=1, num_encoders=2)
    name: Literal["ct"] = "ct"
    """the method"""
    num_negatives: PositiveInt = field(7, symbol="K")
    """other sentences of the batch that each is told apart from; a smaller batch gives all its others"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> PairNetworks:
        return PairNetworks(encoder, nn.Identity())

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        assert isinstance(networks, PairNetworks)

        def read(encoder: SentenceEncoder, name: str) -> Float[Tensor, "b d"]:
            words = encoder.word_embeddings(batch.ids)
            with run.dropout(step, name, batch.ids.device), run.autocast():
                return encoder(words, batch.mask, batch.ids, places=batch.real_places).to(words.dtype)

        second, first = read(networks.encoder, "outer"), read(networks.other, "other")
        tension = first @ run.collectives.gather(second).T  # [b g]
        # The paper draws negatives from the corpus; a batch is a random draw from it.
        (drawn,) = batch.drawn("negatives", step, lambda host, step: (self._drawn(host, run.streams, step),))
        own, negatives = run.own(batch), drawn[:, run.collectives.gather(batch.rows)]
        losses = -(F.logsigmoid(tension) * own + F.logsigmoid(-tension) * negatives).sum(1)
        loss, metrics = losses.sum() / batch.num_rows, {"loss/tension": Mean.over(losses)}
        return reported(loss, metrics, {"tension": (1 / batch.num_rows, losses)}, networks, run)

    def _drawn(self, batch: Batch, streams: Streams, step: int) -> Bool[Tensor, "b g"]:
        """Draw each sentence's K others by their indices, without replacement."""
        chosen = torch.zeros(len(batch.rows), batch.num_rows, dtype=torch.bool)
        for marks, row in zip(chosen, batch.rows.tolist(), strict=True):
            generator = streams.generator("negatives", step, row)
            others = torch.randperm(batch.num_rows - 1, generator=generator)[: self.num_negatives]
            marks[others + (others >= row)] = True
        return chosen
