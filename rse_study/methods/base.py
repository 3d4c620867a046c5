"""The base class of methods with one contrastive loss."""

from typing import ClassVar

from pydantic import PositiveFloat

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.losses.info_nce import info_nce
from rse_study.losses.terms import TERMS
from rse_study.methods.method import Method, RunContext
from rse_study.models import Networks, SentenceEncoder, build_head
from rse_study.models.pooling import HeadKind
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor


class ContrastiveMethod(Method):
    """A method with a training-only head and a temperature; subclasses define a step."""

    checks: ClassVar = TERMS["contrastive"]
    temperature: PositiveFloat = field(0.05, symbol="tau")
    """what cosines are divided by in L_con"""
    head: HeadKind = "linear_tanh"
    """map of the pooled vector to z in training; evaluation drops it"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        generator = streams.generator("init", 0)
        return Networks(encoder, build_head(self.head, encoder.hidden_size, generator, collectives))

    def contrastive(
        self, z: Float[Tensor, "b d"], z_pos: Float[Tensor, "b d"], batch: Batch, run: RunContext
    ) -> Float[Tensor, " b"]:
        """Return L_con of this worker's anchors against the global batch's second views."""
        return info_nce(z, z_pos[None], run.collectives.gather(z_pos), run.own(batch), self.temperature)
