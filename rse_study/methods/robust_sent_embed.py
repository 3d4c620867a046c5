"""RobustSentEmbed (Asl et al. 2024); SimCSE, RobustEmbed, USCAL as settings."""

from typing import Any, ClassVar, Literal

from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from rse_study.data.batches import Batch
from rse_study.losses import TERMS, info_nce
from rse_study.methods.adversary import Adversary, ReplacedTokenDetection
from rse_study.methods.method import Mean, Method, MethodSource, Networks, RunContext, StepCost, StepOutcome
from rse_study.methods.views import Terms, Views, encode_views, reported
from rse_study.models import Discriminator, SentenceEncoder, build_head
from rse_study.perturbations.ascent import INNER_RISE, Anchor
from rse_study.perturbations.blend import Blend, passes_for
from rse_study.perturbations.site_masks import WeakeningMasks
from rse_study.perturbations.token_level import TokenLevel
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Collectives, Float, Tensor, torch

SHARED_MASKS = "passes that share their dropout masks, and a recorded step draws new ones each time"


class RobustSentEmbed(Method):
    """L = L_con(z, {z_pos, z_adv}) + lambda1 L_con(z_adv, {z_pos}) + lambda2 L_RTD.

    Eq 10. z_adv = f(X + delta_final). N = 0 steps mean *no adversarial view*: with lambda1 = lambda2 = phi = 0 that
    is SimCSE. Costs N + 2 encoder calls.
    """

    semantics: ClassVar[int] = 1
    joint: ClassVar = {"norm": ("blend.pgd.ball.norm", "blend.fgsm.ball.norm", "token_level.ball.norm")}
    checks: ClassVar = (
        *INNER_RISE, *Blend.checks, *TokenLevel.checks, *WeakeningMasks.checks,
        *TERMS["contrastive"], *TERMS["adversarial"], *TERMS["rtd"],
    )  # fmt: skip
    source: ClassVar[MethodSource] = MethodSource(
        "RobustSentEmbed",
        "2-10",
        ("0002-one-ascent-loop", "0003-readings-of-robust-sent-embed", "0004-starvation-of-eta"),
    )
    takes_views: ClassVar = True
    name: Literal["robust_sent_embed"] = "robust_sent_embed"
    """the method; a study may leave it out"""
    blend: Blend = Field(default_factory=Blend)
    """the sentence-level perturbation delta: PGD and FGSM, mixed"""
    token_level: TokenLevel = Field(default_factory=TokenLevel)
    """the token-level perturbation eta and the table V behind it"""
    masks: WeakeningMasks = Field(default_factory=WeakeningMasks)
    """weakening masks on the adversarial view (L2P-CSR)"""
    rtd: ReplacedTokenDetection = Field(default_factory=ReplacedTokenDetection)
    """what L_RTD is made of"""
    lambda1: NonNegativeFloat = field(1 / 128, symbol="lambda1")
    """weight of L_con(z_adv, {z_pos}); needs num_steps > 0"""
    lambda2: NonNegativeFloat = field(0.005, symbol="lambda2")
    """weight of L_RTD; 0 runs no replaced-token detection"""
    temperature: PositiveFloat = field(0.05, symbol="tau")
    """what cosines are divided by in L_con, inner loop and outer loss"""
    head: Literal["linear_tanh", "batch_norm", "none"] = "linear_tanh"
    """map of the pooled vector to z in training; evaluation drops it"""
    perturbed_tokens: Literal["content", "all"] = "content"
    """tokens that delta and eta may move: real ones without, or with, the special ones; padding never"""
    delta_gradient: Literal["with_eta", "without_eta"] = "with_eta"
    """where delta's gradient is taken: at X + delta + eta, or at X + delta"""
    # Algorithm 1 names masks for X and X+ only. Decision 0015.
    inner_dropout: Literal["eval", "fixed", "fresh"] = "eval"
    """dropout of the inner loop: none, the same masks in each step, or new ones"""
    outer_dropout: Literal["independent", "shared_first"] = "independent"
    """dropout masks of z_adv: its own, or those of z"""
    z_adv_eta: Literal["without", "with"] = "without"
    """z_adv = f(X + delta_final), or f(X + delta_final + eta)"""
    z_adv_negatives: Literal["excluded", "included"] = "excluded"
    """whether other sentences' z_adv are negatives beside their z_pos"""
    second_positive: Literal["inside", "outside", "none"] = "inside"
    """z_adv as positive of z: in the log's sum, as an L_con of its own, or not at all"""
    hard_negatives: Literal["optional", "required"] = field("optional", neutral="optional")
    """whether `views` must have a third column, whose sentences are negatives wherever it is there"""

    @model_validator(mode="after")
    def _consistent(self) -> "RobustSentEmbed":
        if self.blend.pgd.ball.norm != self.token_level.ball.norm:
            raise ValueError(
                "norms of pgd.ball, fgsm.ball and token_level.ball must agree: P is one norm (eqs 2-6). Set all alike"
            )
        if not self.has_adversary and self.lambda1 > 0:
            raise ValueError("lambda1 > 0 needs an adversarial view. Set num_steps > 0, or lambda1: 0")
        if not self.has_adversary and self.masks.phi > 0:
            raise ValueError("masks.phi > 0 needs an adversarial view. Set num_steps > 0, or phi: 0")
        if self.z_adv_eta == "with" and self.token_level.presence == "absent":
            raise ValueError("z_adv_eta: with needs eta. Set token_level.presence: present")
        return self

    @property
    def has_adversary(self) -> bool:
        return self.blend.num_steps > 0

    @property
    def has_eta(self) -> bool:
        return self.has_adversary and self.token_level.presence == "present"

    @property
    def generator(self) -> str:
        return self.rtd.generator if self.lambda2 > 0 else ""

    @property
    def generator_settings(self) -> dict[str, Any]:
        return self.rtd.generator_settings if self.lambda2 > 0 else {}

    @property
    def num_sites(self) -> int:
        return self.masks.num_sites if self.masks.phi > 0 else 0

    @property
    def unrecordable(self) -> str:
        if self.has_adversary and self.inner_dropout == "fixed":
            return f"inner_dropout: fixed has {SHARED_MASKS}"
        if self.has_adversary and self.outer_dropout == "shared_first":
            return f"outer_dropout: shared_first has {SHARED_MASKS}"
        if self.has_eta and self.token_level.write_back == "last":
            return "write_back: last looks for the last occurrence of each token"
        reads_padding = self.generator and self.rtd.reduction == "mean_padding"
        return "rtd.reduction: mean_padding lets transformers look for padding" if reads_padding else ""

    @property
    def cost(self) -> StepCost:
        per_step = passes_for(self.blend, delta_sees_eta=self._delta_sees_eta).per_step
        num_views = 3 if self.has_adversary else 2
        clean = int(self.has_adversary)
        return StepCost(self.blend.num_steps * per_step, num_views, bool(self.generator), clean)

    @property
    def _delta_sees_eta(self) -> bool:
        return self.delta_gradient == "with_eta" or not self.has_eta

    def foreseen(self, batch_size: int) -> dict[str, float]:
        return self.blend.foreseen()

    def networks(self, encoder: SentenceEncoder, streams: Streams, collectives: Collectives) -> Networks:
        head = build_head(self.head, encoder.hidden_size, streams.generator("init", 0), collectives)
        if not self.generator:
            return Networks(encoder, head)
        # D starts from the same checkpoint.
        discriminator = Discriminator(encoder, streams.generator("init", 1))
        return Networks(encoder, head, discriminator)

    def state(self, networks: Networks, streams: Streams, epoch: int = 0) -> dict[str, Tensor]:
        if not self.has_eta:
            return {}
        # V, [vocabulary d]: float32 (float64 in a float64 run), outside autograd and optimiser.
        weight = networks.encoder.backbone.get_input_embeddings().weight
        table = self.token_level.table(weight.shape[0], weight.shape[1], streams, epoch)
        return {"V": table.to(weight.device, torch.promote_types(torch.float32, weight.dtype))}

    def renew(
        self, state: dict[str, Tensor], networks: Networks, streams: Streams, epoch: int
    ) -> dict[str, Tensor]:
        # At the start of a later epoch V goes on, or is drawn anew.
        return self.state(networks, streams, epoch) if self.token_level.redraw == "epoch" else state

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        embeddings = networks.encoder.word_embeddings(batch.ids)
        inner = None
        if self.has_adversary:
            moving = batch if self.perturbed_tokens == "content" else batch.all_perturbable()
            anchor = Anchor(embeddings.detach(), moving, step, networks.encoder.hidden_size)
            inner = self._adversary.find(networks, state.get("V"), anchor, run)
        views = encode_views(
            networks,
            embeddings,
            None if inner is None else inner.added(with_eta=self.z_adv_eta == "with"),
            () if inner is None else inner.weights,
            batch,
            run,
            step,
            shares_first=self.outer_dropout == "shared_first",
        )
        loss, terms = self._contrastive(views, batch, run)
        metrics = {f"loss/{name}": Mean.over(losses) for name, (_, losses) in terms.items()}
        if self.generator:
            h = views.z if self.rtd.h == "after_head" else views.pooled
            eta = None if inner is None else inner.eta
            detected = self.rtd.term(networks, batch, eta, h, run, step)
            loss = loss + self.lambda2 * detected.loss
            terms["rtd"] = self.lambda2, detected.loss
            metrics |= {
                "loss/rtd": Mean(detected.loss.detach(), 1 / run.collectives.size),
                **detected.metrics,
            }
        metrics |= {} if inner is None else inner.metrics
        return reported(loss, metrics, terms, networks, run)

    @property
    def _adversary(self) -> Adversary:
        return Adversary(
            self.blend,
            self.token_level,
            self.masks,
            self.temperature,
            self.inner_dropout,
            delta_sees_eta=self._delta_sees_eta,
        )

    def _contrastive(self, views: Views, batch: Batch, run: RunContext) -> tuple[Tensor, Terms]:
        """Return this worker's share of the first two terms of eq 10, and weight and losses of each."""
        others, own = run.candidates(batch, views.z_pos, *views.z_neg)
        if views.z_adv is not None and self.z_adv_negatives == "included":
            others = torch.cat([others, run.collectives.gather(views.z_adv)])
            own = torch.cat([own, run.own(batch)], dim=1)
        losses = self._first_term(views, others, own)
        terms = {"contrastive": (1 / batch.num_rows, losses)}
        if views.z_adv is not None and self.lambda1 > 0:
            pulled = info_nce(views.z_adv, views.z_pos[None], others, own, self.temperature)
            terms["adversarial"] = (self.lambda1 / batch.num_rows, pulled)
            losses = losses + self.lambda1 * pulled
        return losses.sum() / batch.num_rows, terms

    def _first_term(
        self, views: Views, others: Float[Tensor, "g d"], own: Bool[Tensor, "b g"]
    ) -> Float[Tensor, " b"]:
        positives = torch.stack([view for view in (views.z_pos, views.z_adv) if view is not None])
        if self.second_positive == "inside":
            return info_nce(views.z, positives, others, own, self.temperature)
        apart = positives[:1] if self.second_positive == "none" else positives
        losses = [info_nce(views.z, one[None], others, own, self.temperature) for one in apart]
        return torch.stack(losses).sum(0)
