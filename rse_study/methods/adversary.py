"""Parts of RobustSentEmbed: its inner loop, and replaced-token detection."""

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar, Literal

from rse_study.data.batches import Batch, rtd_mask
from rse_study.losses import info_nce, replaced_token_detection
from rse_study.methods.method import Mean, Networks, RunContext, StepOutcome
from rse_study.methods.views import inner_losses, movement, weakened
from rse_study.models import TokenPlaces
from rse_study.perturbations.ascent import Anchor, Ascent, Change, Player, ascend, frozen
from rse_study.perturbations.blend import Blend, Branches, passes_for
from rse_study.perturbations.sentence_level import DeltaState
from rse_study.perturbations.site_masks import WeakeningMasks
from rse_study.perturbations.token_level import TokenLevel, starved
from rse_study.spec import Spec, field
from rse_study.tensors import Bool, Float, Int, Tensor, sent, torch


@dataclass(frozen=True)
class InnerAscent:
    """The results of the inner loop, constants from here on."""

    delta: Float[Tensor, "b l e"]
    eta: Float[Tensor, "b l e"] | None
    weights: tuple[Float[Tensor, "b l d"], ...]
    metrics: dict[str, Mean]

    def added(self, *, with_eta: bool) -> Float[Tensor, "b l e"]:
        """Return what z_adv adds to X: delta_final, and eta if it is wanted."""
        return self.delta + self.eta if with_eta and self.eta is not None else self.delta


@dataclass(frozen=True)
class Adversary:
    """The players of RobustSentEmbed against one objective."""

    blend: Blend
    token_level: TokenLevel
    masks: WeakeningMasks
    temperature: float
    dropout: str
    """eval (none), fixed (one set of masks for all steps) or fresh (new ones at each)"""
    delta_sees_eta: bool

    def find(self, networks: Networks, table: Tensor | None, anchor: Anchor, run: RunContext) -> InnerAscent:
        players, states = self._team(table, anchor, run)
        with frozen(networks, training=self.dropout != "eval"):
            objective = InnerObjective.at(self, networks, anchor, run)
            passes = passes_for(self.blend, delta_sees_eta=self.delta_sees_eta)
            ascent = ascend(objective, players, states, passes, looks_at_end=run.is_reported)
        blended, company = ascent.states[0], ascent.states[1:]
        eta = next((state for state in company if isinstance(state, DeltaState)), None)
        if eta is not None and table is not None:
            self.token_level.remember(table, anchor, eta, run.collectives)
        weights = players[-1].apply(ascent.states[-1]).weights() if self.masks.phi > 0 else ()
        metrics = self._metrics(blended, eta, ascent, anchor) if run.is_reported else {}
        return InnerAscent(self.blend.mix(blended), None if eta is None else eta.delta, weights, metrics)

    def _team(self, table: Tensor | None, anchor: Anchor, run: RunContext) -> tuple[list[Player], list[Any]]:
        players: list[Player] = [self.blend]
        states: list[Any] = [self.blend.init(anchor, run.streams)]
        if table is not None:
            players.append(self.token_level)
            states.append(self.token_level.init_from(table, anchor))
        if self.masks.phi > 0:
            players.append(self.masks)
            states.append(self.masks.init(anchor, run.streams))
        return players, states

    def _metrics(
        self, blended: Branches, eta: DeltaState | None, ascent: Ascent, anchor: Anchor
    ) -> dict[str, Mean]:
        batch, perturbable, pgd, fgsm = anchor.batch, anchor.perturbable, blended.pgd, blended.fgsm
        metrics = {
            "delta/norm": Mean.over(self.blend.mix(blended).flatten(1).norm(dim=1)),
            **movement(pgd, "delta/moved"),
            **movement(fgsm, "delta/moved_fgsm"),
            "delta/on_bound_pgd": Mean.among(*pgd.ball.on_bound(pgd.delta, perturbable)),
            "delta/on_bound_fgsm": Mean.among(*fgsm.ball.on_bound(fgsm.delta, perturbable)),
            **inner_losses(ascent, len(anchor.ids), math.log(batch.num_rows * (len(batch.texts) - 1))),
        }
        if eta is not None:
            metrics["eta/starved"] = Mean.among(starved(eta, self.token_level.ball.norm), perturbable)
            metrics["eta/on_bound"] = Mean.among(*eta.ball.on_bound(eta.delta, perturbable))
            metrics["eta/growth"] = Mean.among(self.token_level.growth(eta), perturbable)
        return metrics | (
            weakened(self.masks.apply(ascent.states[-1]), anchor.mask) if self.masks.phi > 0 else {}
        )


@dataclass
class InnerObjective:
    """Sum over rows of L_con(f(X + change), {z_pos}); row i sees its change only."""

    adversary: Adversary
    networks: Networks
    anchor: Anchor
    run: RunContext
    z_pos: Float[Tensor, "b d"]
    moments: Any
    others: Float[Tensor, "g d"]
    own: Bool[Tensor, "b g"]
    num_passes: int = 0

    @classmethod
    def at(
        cls, adversary: Adversary, networks: Networks, anchor: Anchor, run: RunContext
    ) -> "InnerObjective":
        """Encode z_pos once, without gradient; its head moments serve every pass.

        It is f(X), and with `views` f of the paraphrases, which hard negatives follow.
        """
        seen = run.dropout(anchor.step, "inner/pos", anchor.ids.device)
        with torch.no_grad(), seen, run.autocast():
            points = networks.points_of(anchor.embeddings, anchor.batch)[1:]
            (z_pos, moments), *negatives = map(networks.project, points, anchor.batch.texts[1:])
        candidates = run.candidates(anchor.batch, z_pos, *(z for z, _ in negatives))
        return cls(adversary, networks, anchor, run, z_pos, moments, *candidates)

    def __call__(self, change: Change) -> Float[Tensor, ""]:
        self.num_passes += 1
        name = f"inner/{self.num_passes}" if self.adversary.dropout == "fresh" else "inner"
        assert change.addition is not None
        anchor = self.anchor
        points = anchor.embeddings + change.addition
        with self.run.dropout(anchor.step, name, points.device), self.run.autocast():
            z, _ = self.networks.project(points, anchor.batch, self.moments, change.weights())
        return info_nce(z, self.z_pos[None], self.others, self.own, self.adversary.temperature).sum()


class ReplacedTokenDetection(Spec):
    """Eq 8: D reads X'' + eta and says which tokens are original.

    h = f(x) stands in place of position 0.
    """

    semantics: ClassVar[int] = 1
    generator: str = "base"
    """G, a frozen masked LM: `base`, the base encoder's own; an asset's name, a folder or a hub name"""
    share: float = field(0.2, gt=0, le=1)
    """share of a sentence's non-special tokens that are masked; at least one is"""
    positions: Literal["masked", "everywhere"] = "masked"
    """where G's tokens are put into x'': at the masked positions, or at all non-special tokens"""
    choice: Literal["argmax", "sample"] = "argmax"
    """G's token at a position: its most probable one, or one drawn from its distribution"""
    # Eq. 8 sums over tokens and sentences; lambda2 is calibrated to a mean. Decision 0003.
    reduction: Literal["mean", "mean_padding", "sum"] = "mean"
    """over the batch's tokens without position 0: mean of the real ones, mean with padding, or sum"""
    h: Literal["after_head", "before_head"] = "after_head"
    """h = f(x) that D reads at position 0: z of the first view, or that view before the head"""

    def edited(self, batch: Batch, run: RunContext, step: int) -> Int[Tensor, "b l"]:
        """Return x'' = G(mask(x)); the original token may come back."""
        compute = partial(self._generated, batch, run, step)
        return compute() if run.outputs is None else run.outputs.edited(batch.ids, step, compute)

    @property
    def generator_settings(self) -> dict[str, Any]:
        """Settings that decide x'' besides x, G and the seed: all but how D reads it."""
        of_detection = {"generator", "reduction", "h"}  # G is identified by its weights
        return {name: value for name, value in self.identity().items() if name not in of_detection}

    def _generated(self, batch: Batch, run: RunContext, step: int) -> Int[Tensor, "b l"]:
        assert run.generator is not None
        # G fills the tokens that are taken, and none for the sake of shapes.
        batch = replace(batch, is_fixed=False)
        host, device = batch.on_host, batch.ids.device
        masked = rtd_mask(host, run.streams, step, self.share)
        uniform = self._uniform(host, run, step) if self.choice == "sample" else None
        taken = host.perturbable if self.positions == "everywhere" else masked
        # In bf16 the choice is made on bf16 logits. Decision 0015.
        with run.autocast():
            return run.generator.fill(
                batch.ids,
                sent(masked, device),
                batch.mask,
                taken=sent(taken, device),
                uniform=None if uniform is None else sent(uniform, device),
                places=TokenPlaces(batch.real_places, sent(batch.places_of(taken), device)),
            )

    def term(
        self,
        networks: Networks,
        batch: Batch,
        eta: Float[Tensor, "b l e"] | None,
        h: Float[Tensor, "b d"],
        run: RunContext,
        step: int,
    ) -> StepOutcome:
        """Return this worker's share of L_RTD.

        Gradient flows into D, through h (which D reads at position 0), and through X'' into the encoder; eta
        is constant.
        """
        assert networks.discriminator is not None
        device = batch.ids.device
        (ids,) = batch.drawn("rtd", step, lambda host, step: (self.edited(host.to(device), run, step),))
        embeddings = networks.encoder.word_embeddings(ids)
        if eta is not None:
            embeddings = embeddings + eta.detach()
        with run.dropout(step, "D", ids.device), run.autocast():
            reads_padding = self.reduction == "mean_padding"
            logits = networks.discriminator(
                embeddings, batch.mask, h, reads_padding=reads_padding, places=batch.real_places
            )
        logits = logits.to(embeddings.dtype)
        replaced = ids != batch.ids
        counted = batch.chosen(lambda batch: self._counted(batch.mask))
        losses = counted.of(replaced_token_detection(logits, replaced))
        correct = counted.of((logits > 0) == ~replaced).to(losses.dtype)
        count = counted.ones(losses.dtype).sum()
        metrics = {"rtd/accuracy": Mean(correct.sum(), count)}
        if run.is_reported:
            changed = counted.of(replaced)
            metrics["rtd/replaced"] = Mean(changed.to(losses.dtype).sum(), count)
            metrics["rtd/detected"] = Mean.among(correct, changed)
        return StepOutcome(self._reduced(losses, count, run), metrics)

    def _counted(self, mask: Bool[Tensor, "b l"]) -> Bool[Tensor, "b l"]:
        """Select real tokens (`mean_padding`: padding too) but position 0, which holds h."""
        counted = torch.ones_like(mask) if self.reduction == "mean_padding" else mask.clone()
        counted[:, 0] = False
        return counted

    def _reduced(
        self, losses: Float[Tensor, " n"], count: Float[Tensor, ""], run: RunContext
    ) -> Float[Tensor, ""]:
        total = losses.sum()
        return total if self.reduction == "sum" else total / run.collectives.sum(count).clamp(min=1)

    def _uniform(self, batch: Batch, run: RunContext, step: int) -> Float[Tensor, "b l"]:
        """Draw a uniform number per token, keyed by row, on the CPU, to sample from G."""
        uniform = torch.zeros(batch.ids.shape)
        for i, (row, real) in enumerate(zip(batch.rows.tolist(), batch.mask.sum(1).tolist(), strict=True)):
            uniform[i, :real] = torch.rand(real, generator=run.streams.generator("rtd", step, row, 1))
        return uniform
