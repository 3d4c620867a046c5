"""The inner loop of RobustSentEmbed (Algorithm 1), an ascent on its L_con."""

import math
from dataclasses import dataclass
from typing import Any

from rse_study.losses.info_nce import info_nce
from rse_study.methods.method import Mean, Networks, RunContext
from rse_study.methods.metrics import inner_losses, movement, weakened
from rse_study.perturbations.ascent import Anchor, Ascent, Change, Player, ascend, frozen
from rse_study.perturbations.blend import Blend, Branches, passes_for
from rse_study.perturbations.site_masks import WeakeningMasks
from rse_study.perturbations.token_level import EtaState, TokenLevel, starved
from rse_study.tensors import Bool, Float, Tensor, torch


@dataclass(frozen=True)
class InnerAscent:
    """The results of the inner loop, constants from here on."""

    delta: Float[Tensor, "b l d"]
    eta: Float[Tensor, "b l d"] | None
    weights: tuple[Float[Tensor, "b l d"], ...]
    metrics: dict[str, Mean]

    def added(self, *, with_eta: bool) -> Float[Tensor, "b l d"]:
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
        eta = next((state for state in company if isinstance(state, EtaState)), None)
        if eta is not None and table is not None:
            self.token_level.remember(table, anchor, eta, run.collectives)
        weights = players[-1].apply(ascent.states[-1]).weights() if self.masks.phi > 0 else ()
        metrics = self._metrics(blended, eta, ascent, anchor) if run.is_reported else {}
        return InnerAscent(self.blend.mix(blended), None if eta is None else eta.eta, weights, metrics)

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
        self, blended: Branches, eta: EtaState | None, ascent: Ascent, anchor: Anchor
    ) -> dict[str, Mean]:
        perturbable, pgd, fgsm = anchor.perturbable, blended.pgd, blended.fgsm
        metrics = {
            "delta/norm": Mean.over(self.blend.mix(blended).flatten(1).norm(dim=1)),
            **movement(pgd, "delta/moved"),
            **movement(fgsm, "delta/moved_fgsm"),
            "delta/on_bound_pgd": Mean.among(*pgd.ball.on_bound(pgd.delta, perturbable)),
            "delta/on_bound_fgsm": Mean.among(*fgsm.ball.on_bound(fgsm.delta, perturbable)),
            **inner_losses(ascent, len(anchor.ids), math.log(anchor.batch.num_rows)),
        }
        if eta is not None:
            metrics["eta/starved"] = Mean.among(starved(eta, self.token_level.ball.norm), perturbable)
            metrics["eta/on_bound"] = Mean.among(*eta.ball.on_bound(eta.eta, perturbable))
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
        """Encode z_pos = f(X) once, without gradient; its head moments serve every pass."""
        seen = run.dropout(anchor.step, "inner/pos", anchor.ids.device)
        with torch.no_grad(), seen, run.autocast():
            z_pos, moments = networks.project(anchor.embeddings, anchor.batch)
        others = run.collectives.gather(z_pos)
        return cls(adversary, networks, anchor, run, z_pos, moments, others, run.own(anchor.batch))

    def __call__(self, change: Change) -> Float[Tensor, ""]:
        self.num_passes += 1
        name = f"inner/{self.num_passes}" if self.adversary.dropout == "fresh" else "inner"
        assert change.addition is not None
        anchor = self.anchor
        points = anchor.embeddings + change.addition
        with self.run.dropout(anchor.step, name, points.device), self.run.autocast():
            z, _ = self.networks.project(points, anchor.batch, self.moments, change.weights())
        return info_nce(z, self.z_pos[None], self.others, self.own, self.adversary.temperature).sum()
