"""DCL: a sentence and its synonym twin predict each other, without negatives."""

import math
from typing import Any, ClassVar, Literal

from pydantic import NonNegativeFloat, PositiveInt

from rse_study.data.batches import Batch, mask_tokens, with_synonyms
from rse_study.losses import TERMS
from rse_study.methods.method import Mean, Method, MethodSource, Networks, RunContext, StepCost, StepOutcome
from rse_study.methods.views import reported
from rse_study.models import DCLNetworks, MaskedLMHead, Projection, SentenceEncoder, by_chunks
from rse_study.models.pooling import NormKind
from rse_study.results.manipulation import LIMITS, ManipulationCheck
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Collectives, F, Float, Int, Tensor, torch

UNCHOSEN = -100
"""target of a token that the masked LM does not predict"""


class DCL(Method):
    """L = align(p(x), t(x_aug)) + align(p(x_aug), t(x)) + weight * L_MLM.

    DCL eqs 7-9, align = 2 - 2 cos. x_aug: x with a share of its words replaced by WordNet synonyms. p: encoder,
    projection, predictor; t: the target, a moving average of encoder and projection, without gradient. The masked
    LM has a pass of its own on x. Costs 2 encoder calls and one of the target.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = (
        ManipulationCheck(
            "twin/replaced", "x_aug", *LIMITS["twin/replaced"], "two views by dropout alone"
        ),
        *TERMS["align"],
        *TERMS["masked_lm"],
    )  # fmt: skip
    source: ClassVar[MethodSource] = MethodSource("DCL", "5-9", ("0008-reading-of-dcl",))
    unrecordable: ClassVar = ""
    needs_synonyms: ClassVar = True
    name: Literal["dcl"] = "dcl"
    """the method"""
    norm: NormKind = "power"
    """normalisation inside projection and predictor, per feature over the rows of a view"""
    share: float = field(0.15, gt=0, le=1)
    """share of a sentence's words that x_aug replaces by synonyms; at least one"""
    decay: float = field(0.996, ge=0, le=1)
    """share of itself that the target keeps after an optimiser step (eq 7)"""
    masked_lm: NonNegativeFloat = 1.0
    """weight of L_MLM; 0 runs no masked LM"""
    hidden: PositiveInt = 512
    """units of the hidden layer of projection and predictor"""
    width: PositiveInt = 128
    """features that projection and predictor put out"""
    head: Literal["projection"] = "projection"
    """what stands between pooled vector and loss; evaluation drops it"""

    @property
    def needs_mask(self) -> bool:
        return self.masked_lm > 0

    @property
    def cost(self) -> StepCost:
        return StepCost(ascent=0, num_views=2 + (self.masked_lm > 0), clean=2)

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> DCLNetworks:
        generator = streams.generator("init", 0)
        made = [
            Projection(width, self.hidden, self.width, self.norm, generator, collectives)
            for width in (encoder.hidden_size, self.width)
        ]
        head = None
        if self.masked_lm > 0:
            vocabulary = encoder.backbone.get_input_embeddings().weight.shape[0]
            head = MaskedLMHead(
                encoder.hidden_size, encoder.embedding_size, vocabulary, streams.generator("init", 1)
            )
        return DCLNetworks(encoder, made[0], made[1], head)

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        assert isinstance(networks, DCLNetworks)
        assert run.synonyms is not None
        twin = with_synonyms(batch, run.synonyms, run.streams, step, self.share)
        predicted, projected = self._online(networks, batch, twin, run, step)
        x, x_aug = self._target(networks, batch, twin, run, step)
        losses = align(predicted[0], x_aug) + align(predicted[1], x)
        loss = losses.sum() / batch.num_rows
        terms = {"align": (1 / batch.num_rows, losses)}
        metrics = {"loss/align": Mean.over(losses), **_cosines(*projected, batch, run)}
        if networks.masked_lm is not None:
            found, count = self._masked_lm(networks, batch, run, step)
            loss = loss + self.masked_lm * found
            terms["masked_lm"] = (self.masked_lm, found)
            metrics["loss/masked_lm"] = Mean(found.detach(), 1 / run.collectives.size)
            metrics["masked_lm/tokens"] = Mean(count, 1 / run.collectives.size)
        if run.is_reported:
            metrics["twin/replaced"] = Mean.among(twin != batch.ids, batch.perturbable)
        return reported(loss, metrics, terms, networks, run)

    def after(self, networks: Networks) -> None:
        """Move the norms' statistics, then the target, after the optimiser's step."""
        assert isinstance(networks, DCLNetworks)
        networks.head.update()
        networks.predictor.update()
        networks.target.follow(networks, self.decay)

    def _online(
        self, networks: DCLNetworks, batch: Batch, twin: Int[Tensor, "b l"], run: RunContext, step: int
    ) -> tuple[tuple[Tensor, Tensor], tuple[Tensor, Tensor]]:
        """Return predictions and projections of both views, encoded in one pass.

        Each has its own norms; x moves the statistics.
        """
        ids, twice = torch.cat([batch.ids, twin]), batch.repeated(2)
        with run.dropout(step, "outer", ids.device), run.autocast():
            words = networks.encoder.word_embeddings(ids)
            pooled = networks.encoder(words, twice.mask, ids, places=twice.real_places)
            x, x_aug = pooled.chunk(2)
            first, second = networks.head(x, records=True), networks.head(x_aug)
            x, x_aug = networks.predictor(first, records=True), networks.predictor(second)
        return (_full(x), _full(x_aug)), (_full(first), _full(second))

    def _target(
        self, networks: DCLNetworks, batch: Batch, twin: Int[Tensor, "b l"], run: RunContext, step: int
    ) -> tuple[Tensor, Tensor]:
        ids, twice = torch.cat([batch.ids, twin]), batch.repeated(2)
        target = networks.target
        # Train mode, with its own dropout masks: the paper does not say. Decision 0015.
        with torch.no_grad(), run.dropout(step, "target", ids.device), run.autocast():
            words = target.encoder.word_embeddings(ids)
            pooled = target.encoder(words, twice.mask, ids, places=twice.real_places)
            x, x_aug = (_full(target.projection(view)) for view in pooled.chunk(2))
        return x, x_aug

    def _masked_lm(
        self, networks: DCLNetworks, batch: Batch, run: RunContext, step: int
    ) -> tuple[Float[Tensor, ""], Float[Tensor, ""]]:
        """Return L_MLM, a mean over the global batch, and this worker's number of chosen tokens.

        15% are chosen, of which 80 / 10 / 10 are masked, random, kept.
        """
        table: Any = networks.encoder.backbone.get_input_embeddings().weight
        vocabulary, mask_id, streams = len(table), networks.encoder.mask_token_id, run.streams
        corrupted, chosen, targets = batch.drawn(
            "mlm", step, lambda host, step: _masked(host, vocabulary, mask_id, streams, step)
        )
        with run.dropout(step, "mlm", corrupted.device), run.autocast():
            words = networks.encoder.word_embeddings(corrupted)
            vectors = networks.encoder.token_vectors(words, batch.mask, places=batch.real_places)
            hidden = vectors.flatten(0, 1)[chosen]
            head = networks.masked_lm
            assert head is not None

            def lost(hidden: Tensor, ids: Tensor) -> Tensor:
                return F.cross_entropy(
                    _full(head(hidden, table)), ids, ignore_index=UNCHOSEN, reduction="sum"
                )[None]

            # As many tokens at a time as the encoder's chunks have, on average: logits are as wide as the vocabulary.
            most = math.ceil(len(hidden) * networks.encoder.chunk_size / len(batch.rows))
            total = by_chunks(head, lost, most, hidden, targets).sum()
        own = (targets != UNCHOSEN).sum().to(total)
        return total / run.collectives.sum(own).clamp(min=1), own


def align(predicted: Float[Tensor, "b d"], target: Float[Tensor, "b d"]) -> Float[Tensor, " b"]:
    """Return 2 - 2 cos of each row and its target, a constant (eq 8).

    Eq 8 mixes p and q; we read it as BYOL's.
    """
    return 2 - 2 * F.cosine_similarity(predicted, target.detach(), dim=-1)


def _full(x: Tensor) -> Tensor:
    """Cast up from bf16, in which 2 - 2 cos near 0 would be rounding alone."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def _cosines(
    x: Float[Tensor, "b d"], x_aug: Float[Tensor, "b d"], batch: Batch, run: RunContext
) -> dict[str, Mean]:
    """Return Figure 3's mean cosines: with a sentence's own twin, and with others'."""
    twins = run.collectives.gather(x_aug.detach())
    cosines = F.normalize(x.detach(), dim=-1) @ F.normalize(twins, dim=-1).T
    own = run.own(batch)
    return {"cosine/positive": Mean.among(cosines, own), "cosine/random": Mean.among(cosines, ~own)}


def _masked(
    batch: Batch, vocabulary: int, mask_id: int | None, streams: Streams, step: int
) -> tuple[Int[Tensor, "b l"], Int[Tensor, " m"], Int[Tensor, " m"]]:
    """Corrupt ids by draws keyed by row; return them, the chosen tokens' places, and what stood there."""
    assert mask_id is not None
    ids, chosen = batch.ids.clone(), torch.zeros_like(batch.mask)
    for i, (row, real) in enumerate(zip(batch.rows.tolist(), batch.mask, strict=True)):
        places = real.nonzero()[:, 0]
        corrupted, picked = mask_tokens(
            ids[i, places],
            batch.perturbable[i][places],
            mask_id=mask_id,
            vocabulary_size=vocabulary,
            generator=streams.generator("mlm", step, row),
        )
        ids[i, places], chosen[i, places] = corrupted, picked
    at = batch.places_of(chosen)
    return ids, at, batch.ids.masked_fill(~chosen, UNCHOSEN).flatten()[at]
