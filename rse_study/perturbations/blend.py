"""The sentence-level perturbation of RobustSentEmbed: PGD and FGSM, mixed by rho."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator

from rse_study.perturbations.ascent import Anchor, Change, JointPass, Passes, Player, SiteMask
from rse_study.perturbations.geometry import AscentDirection, control_signs, of_norm
from rse_study.perturbations.sentence_level import FGSM, PGD, DeltaState, movement_checks, saturation_check
from rse_study.results.manipulation import Checks
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor


@dataclass(frozen=True)
class Branches:
    """The states of a blend's two branches; one that rho switches off never moves."""

    pgd: DeltaState
    fgsm: DeltaState
    signs: Float[Tensor, "b l d"] | None = None
    """the direction of the control `noise`"""
    noise: Float[Tensor, "b l d"] | None = None
    """after the last step of the control: the mix, in place of that of the branches"""


class Blend(Spec):
    """delta = rho * delta_pgd + (1 - rho) * delta_fgsm (RobustSentEmbed eq 7).

    Both branches receive the same gradient.
    """

    # Eq. 7: rho weighs PGD; the authors' code weighs FGSM (`weighs: fgsm`). Decision 0003.
    semantics: ClassVar[int] = 1
    joint: ClassVar = {"N": ("pgd.num_steps", "fgsm.num_steps")}
    checks: ClassVar[Checks] = (
        *movement_checks("delta/moved", "PGD's delta"),
        *movement_checks("delta/moved_fgsm", "FGSM's delta"),
        saturation_check("delta/on_bound_pgd", "PGD's step size"),
        saturation_check("delta/on_bound_fgsm", "FGSM's step size"),
    )
    pgd: PGD = Field(default_factory=PGD)
    """the branch delta_pgd"""
    fgsm: FGSM = Field(default_factory=FGSM)
    """the branch delta_fgsm"""
    rho: float = field(0.5, symbol="rho", ge=0, le=1)
    """weight of the branch that `weighs` names; at 0 or 1 the branch without weight does not run"""
    weighs: Literal["pgd", "fgsm"] = "pgd"
    """the branch whose weight is rho; the other's is 1 - rho"""
    trajectories: Literal["shared", "joint_state", "separate"] = "shared"
    """one gradient, at the mix; the same, and both steps start from the mix; or a gradient at each branch"""
    ascent: AscentDirection = field("gradient", neutral="gradient")
    """steps go up the gradient, down it (`flipped`), or up it and end as random signs of the same l2 norm (`noise`)"""

    @model_validator(mode="after")
    def _one_start(self) -> "Blend":
        if self.pgd.sigma != self.fgsm.sigma:
            raise ValueError(
                "pgd.sigma and fgsm.sigma must agree: both branches start from one delta0. Set both alike"
            )
        if self.pgd.ball != self.fgsm.ball:
            raise ValueError(
                "pgd.ball and fgsm.ball must agree: delta lives in one ball (eqs 5-7). Set both alike"
            )
        if self.ascent == "noise" and self.trajectories == "separate":
            raise ValueError("ascent: noise replaces the mix. Set trajectories: shared, or joint_state")
        return self

    @property
    def share_of_pgd(self) -> float:
        return self.rho if self.weighs == "pgd" else 1 - self.rho

    @property
    def num_steps(self) -> int:
        """The larger of K and T; a branch of weight 0 does not count."""
        share = self.share_of_pgd
        return max(self.pgd.num_steps * (share > 0), self.fgsm.num_steps * (share < 1))

    def reach(self) -> None:
        """Return None: the branches have a reach each."""

    def foreseen(self) -> dict[str, float]:
        """Return the most that its branches can move; 0 for one without weight."""
        share = self.share_of_pgd
        return {
            "delta/moved": self.pgd.most_moved * (share > 0),
            "delta/moved_fgsm": self.fgsm.most_moved * (share < 1),
        }

    def init(self, anchor: Anchor, streams: Streams) -> Branches:
        signs = control_signs(anchor, streams) if self.ascent == "noise" else None
        start = self.pgd.init(anchor, streams)  # of both: they have one sigma and one ball
        return Branches(start, start, signs)

    def mix(self, state: Branches) -> Float[Tensor, "b l d"]:
        """Return the mix (eq 7), which with rho 0 or 1 is exactly one branch."""
        if state.noise is not None:
            return state.noise
        share = self.share_of_pgd
        if share in (0, 1):
            return state.pgd.delta if share == 1 else state.fgsm.delta
        return share * state.pgd.delta + (1 - share) * state.fgsm.delta

    def apply(self, state: Branches) -> Change:
        return Change(self.mix(state))

    def update(self, state: Branches, gradient: Change | tuple[Change, Change], t: int) -> Branches:
        """Move both branches (eqs 5 and 6), by one gradient or by one each."""
        for_pgd, for_fgsm = gradient if isinstance(gradient, tuple) else (gradient, gradient)
        if self.ascent == "flipped":
            for_pgd, for_fgsm = -for_pgd, -for_fgsm
        share, mix = self.share_of_pgd, self.mix(state)
        joint = self.trajectories == "joint_state"
        pgd, fgsm = state.pgd, state.fgsm
        if share > 0 and t <= self.pgd.num_steps:
            pgd = self.pgd.step(pgd, mix if joint else pgd.delta, for_pgd)
        if share < 1 and t <= self.fgsm.num_steps:
            fgsm = self.fgsm.step(fgsm, mix if joint else fgsm.delta, for_fgsm)
        moved = replace(state, pgd=pgd, fgsm=fgsm)
        if state.signs is None or t != self.num_steps:
            return moved
        return replace(moved, noise=of_norm(state.signs, self.mix(moved)))


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
