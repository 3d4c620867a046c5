"""Passes for blends whose players cannot share one gradient."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rse_study.perturbations.ascent import Change, JointPass, Passes, Player, SiteMask
from rse_study.perturbations.blend import Blend


def passes_for(blend: Blend, *, delta_sees_eta: bool) -> Passes:
    """Return the cheapest passes for a blend (player 0) and the other players."""
    splits = blend.trajectories == "separate" and 0 < blend.rho < 1
    return JointPass() if delta_sees_eta and not splits else SeparatePasses(blend, delta_sees_eta, splits)


@dataclass(frozen=True)
class SeparatePasses:
    """One pass for each branch of the blend, or one for delta without eta.

    Player 0 is the blend. The others take the gradient at the full point X + rho-mix + eta, or the rho-mix of
    the branches' gradients (`separate`, delta sees eta). That makes 2 or 3 passes.
    """

    blend: Blend
    delta_sees_eta: bool
    splits: bool

    @property
    def per_step(self) -> int:
        """Passes of one step: the blend's own, and the full point if it is needed."""
        return (2 if self.splits else 1) + (not self.delta_sees_eta)

    def points(self, players: Sequence[Player], states: Sequence[Any]) -> list[Change]:
        blended = states[0]
        own = [blended.pgd.delta, blended.fgsm.delta] if self.splits else [self.blend.mix(blended)]
        company = [player.apply(state) for player, state in zip(players[1:], states[1:], strict=True)]
        if not self.delta_sees_eta:
            company = [Change(masks=change.masks) for change in company]
        points = [sum(company, Change(delta)) for delta in own]
        return points if self.delta_sees_eta else [*points, *JointPass().points(players, states)]

    def share(self, gradients: list[Change], player: int) -> Any:
        if player == 0:
            return (gradients[0], gradients[1]) if self.splits else gradients[0]
        return gradients[-1] if not self.delta_sees_eta else self._mixed(gradients)

    def _mixed(self, gradients: list[Change]) -> Change:
        pgd, fgsm = gradients
        share = self.blend.share_of_pgd
        assert pgd.addition is not None
        assert fgsm.addition is not None
        masks = (
            SiteMask(share * a.tokens + (1 - share) * b.tokens, share * a.features + (1 - share) * b.features)
            for a, b in zip(pgd.masks, fgsm.masks, strict=True)
        )
        return Change(share * pgd.addition + (1 - share) * fgsm.addition, tuple(masks))
