"""What methods share that train an encoder and a head on a contrastive loss, and remember nothing."""

from jaxtyping import Float
from pydantic import PositiveFloat
from torch import Tensor

from rse_study.collectives import Collectives
from rse_study.data.batches import Batch
from rse_study.losses.info_nce import info_nce
from rse_study.methods.base import MethodBase
from rse_study.methods.method import Networks, RunContext
from rse_study.models.encoder import SentenceEncoder
from rse_study.models.heads import HeadKind, build_head
from rse_study.spec import field
from rse_study.streams import Streams


class ContrastiveMethod(MethodBase):
    """Encoder, training-only head, temperature; a subclass says what one step is."""

    temperature: PositiveFloat = field(0.05, symbol="tau")
    """what cosines are divided by in L_con"""
    head: HeadKind = "linear_tanh"
    """map of the pooled vector to z in training; evaluation drops it"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        """Encoder and training-only head (stream `init`)."""
        generator = streams.generator("init", 0)
        return Networks(encoder, build_head(self.head, encoder.hidden_size, generator, collectives))

    def contrastive(
        self, z: Float[Tensor, "b d"], z_pos: Float[Tensor, "b d"], batch: Batch, run: RunContext
    ) -> Float[Tensor, " b"]:
        """L_con of this worker's anchors against the global batch's second views; the gradient reaches both."""
        own = batch.rows[:, None] == run.collectives.gather(batch.rows)[None, :]
        return info_nce(z, z_pos[None], run.collectives.gather(z_pos), own, self.temperature)
