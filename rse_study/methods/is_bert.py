"""IS-BERT: a sentence's vector knows most about the sentence's own tokens."""

from typing import ClassVar, Literal

from rse_study.data.batches import Batch
from rse_study.losses import share_checks
from rse_study.methods.method import Mean, Method, MethodSource, Networks, RunContext, StepCost, StepOutcome
from rse_study.methods.views import reported
from rse_study.models import SentenceEncoder, draw_weights
from rse_study.models.pooling import PoolingKind, pool_mean
from rse_study.streams import Streams
from rse_study.tensors import Collectives, F, Tensor, nn


class ISBERT(Method):
    """L = mean softplus(-T(F_i(x), E(x))) + mean softplus(T(F_i(x), E(x'))), x' != x.

    IS-BERT (Zhang et al. 2020), minus the Jensen-Shannon estimate of the mutual information of local and global
    features: F_i(x) are the features of pooling `convolved` at a real token of x, E(x) is their mean, the sentence's
    vector. Means are over pairs of a token and a sentence of the global batch. The encoder's pooling must be
    `convolved`. Costs 1 encoder call.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (
        *share_checks("joint", "the term of a token and its own sentence"),
        *share_checks("marginal", "the term of a token and another sentence"),
    )
    source: ClassVar = MethodSource("Zhang et al. 2020", "of section 3", ("0099-systems-of-the-tables",))
    unrecordable: ClassVar = ""
    needs_pooling: ClassVar[PoolingKind] = "convolved"
    cost: ClassVar = StepCost(ascent=0, num_views=1)
    name: Literal["is_bert"] = "is_bert"
    """the method"""

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        if not encoder.has_stored_convolutions:
            draw_weights(encoder.convolutions, streams.generator("init", 0))
        return Networks(encoder, nn.Identity())

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        encoder, mask = networks.encoder, batch.mask
        with run.dropout(step, "outer", mask.device), run.autocast():
            words = encoder.word_embeddings(batch.ids)
            hidden = encoder.token_vectors(words, mask, places=batch.real_places)
            features = encoder.convolved(hidden, mask).to(words.dtype)
        sentences = run.collectives.gather(pool_mean(features, mask))
        # The paper's discriminator has parameters; a dot product leaves its task to the convolutions.
        scores = (features @ sentences.T).masked_fill(~mask[..., None], 0)
        own = run.own(batch)[:, None] & mask[..., None]
        num_tokens = run.collectives.sum(mask.sum().to(scores))
        # softplus(x) = -logsigmoid(-x), which torch rounds less
        joint = -F.logsigmoid(scores).masked_fill(~own, 0).sum() / num_tokens
        others = -F.logsigmoid(-scores).masked_fill(own | ~mask[..., None], 0).sum()
        marginal = others / (num_tokens * max(batch.num_rows - 1, 1))
        terms, share = {"joint": (1.0, joint), "marginal": (1.0, marginal)}, 1 / run.collectives.size
        metrics = {f"loss/{name}": Mean(value.detach(), share) for name, (_, value) in terms.items()}
        return reported(joint + marginal, metrics, terms, networks, run)
