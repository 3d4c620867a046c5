"""ConSERT: two views made by hand, by dropout or by an adversarial step."""

import math
from typing import ClassVar, Literal

from pydantic import Field, PositiveFloat, model_validator

from rse_study.data.batches import Batch
from rse_study.losses import TERMS
from rse_study.methods.method import ContrastiveMethod, Mean, MethodSource, RunContext, StepCost, StepOutcome
from rse_study.methods.views import inner_losses, movement, reported
from rse_study.models import Networks
from rse_study.models.pooling import HeadKind, in_mode
from rse_study.perturbations.ascent import INNER_RISE, Anchor, Change, ascend, frozen
from rse_study.perturbations.sentence_level import PGD, Ball, SentenceLevel
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Float, Int, Tensor, torch

Cut = Literal["none", "shuffle", "token_cutoff", "feature_cutoff"]


def altered(
    embeddings: Float[Tensor, "b l d"], anchor: Anchor, how: Cut, rate: float, streams: Streams, view: int
) -> Float[Tensor, "b l d"]:
    """Alter the word embeddings of each sentence; padding stays, the gradient passes.

    `shuffle` permutes the perturbable tokens, the same as permuting their absolute positions. The cutoffs set a share
    `rate` of tokens or features to zero: rounded, at least one. Draws are keyed by (stream `views`, step, row, view).
    """
    if how == "none":
        return embeddings
    width = embeddings.shape[-1]
    order, keep = anchor.batch.drawn(
        f"views/{view}", anchor.step, lambda host, step: _drawn(host, step, width, how, rate, streams, view)
    )
    if how == "shuffle":
        return embeddings.gather(1, order[:, :, None].expand_as(embeddings))
    return embeddings * keep.to(embeddings)


def _drawn(
    batch: Batch, step: int, width: int, how: Cut, rate: float, streams: Streams, view: int
) -> tuple[Int[Tensor, "b l"], Float[Tensor, "b l d"]]:
    num_rows, length = batch.ids.shape
    order = torch.arange(length).repeat(num_rows, 1)
    keep = torch.ones(num_rows, length, width)
    for i, row in enumerate(batch.rows.tolist()):
        generator = streams.generator("views", step, row, view)
        places = batch.perturbable[i].nonzero()[:, 0]
        if how == "shuffle":
            order[i, places] = places[torch.randperm(len(places), generator=generator)]
        elif how == "token_cutoff":
            keep[i, places[_some(len(places), rate, generator)]] = 0
        else:
            keep[i, :, _some(width, rate, generator)] = 0
    return order, keep


def _some(number: int, rate: float, generator: "torch.Generator") -> Int[Tensor, " n"]:
    return torch.randperm(number, generator=generator)[: max(1, round(rate * number))]


ViewKind = Literal["none", "shuffle", "token_cutoff", "feature_cutoff", "adversarial"]


class TwoViews(ContrastiveMethod):
    """Base class of methods that compare two views; each has its perturbation `noise`."""

    unrecordable: ClassVar = ""
    takes_views: ClassVar = True
    checks: ClassVar = (*INNER_RISE, *SentenceLevel.checks, *TERMS["contrastive"])
    name: str
    """the method"""
    first: ViewKind = "shuffle"
    """what is done to the word embeddings of the first view"""
    second: ViewKind = "feature_cutoff"
    """what is done to the word embeddings of the second view"""
    token_rate: float = field(0.15, gt=0, lt=1)
    """share of a sentence's non-special tokens that token_cutoff sets to 0"""
    feature_rate: float = field(0.2, gt=0, lt=1)
    """share of the features that feature_cutoff sets to 0, drawn for each sentence"""
    dropout: bool = False
    """whether the encoder's own dropout is on beside the views"""
    noise: SentenceLevel
    """the perturbation delta of an adversarial view"""
    temperature: PositiveFloat = field(0.1, symbol="tau")
    """what cosines are divided by in L_con"""
    head: HeadKind = "none"
    """map of the pooled vector to z in training; evaluation drops it"""

    @model_validator(mode="after")
    def _two_views(self) -> "TwoViews":
        alike = self.first == self.second and (
            self.first == "adversarial" or (self.first == "none" and not self.dropout)
        )
        if alike:
            raise ValueError(
                f"both views are {self.first!r} and the same: a sentence would be its own positive"
            )
        return self

    @property
    def cost(self) -> StepCost:
        if not self._has_adversary:
            return StepCost(ascent=0, num_views=2)
        return StepCost(self.noise.num_steps, num_views=2, clean=1)

    @property
    def _has_adversary(self) -> bool:
        return "adversarial" in (self.first, self.second)

    def step(
        self, networks: Networks, state: dict[str, Tensor], batch: Batch, run: RunContext, step: int
    ) -> StepOutcome:
        points = networks.points_of(networks.encoder.word_embeddings(batch.ids), batch)
        anchors = [Anchor(one.detach(), text, step) for one, text in zip(points, batch.texts, strict=True)]
        delta, metrics = self._adversary(networks, anchors, batch, run) if self._has_adversary else (None, {})
        for number, kind in enumerate((self.first, self.second)):
            points[number] = self._view(points[number], anchors[number], kind, delta, run, number)
        rows, num_views = batch.repeated(len(points)), len(points)
        dropout = run.dropout(step, "outer", batch.ids.device)
        with in_mode(networks, training=self.dropout), dropout, run.autocast():
            *views, moments = networks.project_views(torch.cat(points), rows, num_views=num_views)
        networks.head.update(moments)
        losses = self.contrastive(views[0], views[1], batch, run, *views[2:])
        loss = losses.sum() / batch.num_rows
        metrics["loss/contrastive"] = Mean.over(losses)
        return reported(loss, metrics, {"contrastive": (1 / batch.num_rows, losses)}, networks, run)

    def _view(
        self,
        embeddings: Float[Tensor, "b l d"],
        anchor: Anchor,
        kind: ViewKind,
        delta: Float[Tensor, "b l d"] | None,
        run: RunContext,
        number: int,
    ) -> Float[Tensor, "b l d"]:
        if kind == "adversarial":
            assert delta is not None
            return embeddings + delta
        cut: Cut = kind
        rate = self.token_rate if kind == "token_cutoff" else self.feature_rate
        return altered(embeddings, anchor, cut, rate, run.streams, number)

    def _adversary(
        self, networks: Networks, anchors: list[Anchor], batch: Batch, run: RunContext
    ) -> tuple[Float[Tensor, "b l d"], dict[str, Mean]]:
        """Find the delta that raises the loss between X + delta and the other text, or X; without dropout."""
        anchor, other = anchors[:2] if self.first == "adversarial" else anchors[1::-1]
        with frozen(networks):
            with torch.no_grad(), run.autocast():
                both = (other, *anchors[2:])
                (clean, moments), *fixed = [networks.project(one.embeddings, one.batch) for one in both]

            def objective(change: Change) -> Float[Tensor, ""]:
                assert change.addition is not None
                with run.autocast():
                    z, _ = networks.project(anchor.embeddings + change.addition, anchor.batch, moments)
                return self.contrastive(z, clean, batch, run, *(one for one, _ in fixed)).sum()

            start = [self.noise.init(anchor, run.streams)]
            ascent = ascend(objective, [self.noise], start, looks_at_end=run.is_reported)
        metrics = inner_losses(ascent, len(batch.rows), math.log(batch.num_rows * (len(batch.texts) - 1)))
        if run.is_reported:
            metrics |= movement(ascent.states[0], "delta/moved")
        return ascent.states[0].delta, metrics


class ConSERT(TwoViews):
    """L = L_con(z1, {z2}) between two views of the word embeddings (ConSERT).

    Its best pair is the default. `adversarial` adds what `noise` finds, from the other view's side: X + delta against
    the unperturbed X. `dropout` says whether the encoder's own dropout is on beside the views. Costs 2 encoder calls,
    with an adversarial view `noise.num_steps` + 1 more.
    """

    semantics: ClassVar[int] = 1
    source: ClassVar[MethodSource] = MethodSource("ConSERT", "none here", ("0007-readings-of-the-relatives",))
    name: Literal["consert"] = "consert"
    """the method"""
    noise: PGD = Field(default_factory=lambda: PGD(num_steps=1, step_size=1e-3, ball=Ball(norm="l2")))
    """the perturbation delta of an adversarial view"""
