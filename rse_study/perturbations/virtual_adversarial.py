"""The virtual adversarial perturbation: no label, only a distance (V-advCSE)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveFloat

from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.ball import Ball
from rse_study.perturbations.noise import AscentDirection, control_signs, normal_rows, of_norm
from rse_study.perturbations.sentence_level import DeltaState, movement_checks, perturbable_gradient
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor


@dataclass(frozen=True)
class VirtualState(DeltaState):
    """The state of r during the ascent."""

    signs: Float[Tensor, "b l d"] | None
    """the direction of the control `noise`; None without it"""


class VirtualAdversarial(Spec):
    """r ~ N(0, s^2), then K times r <- Proj(r + step * g) (V-advCSE Algorithm 1).

    r starts away from 0, where the gradient of every divergence vanishes. The paper gives neither s nor epsilon nor
    the step; these are ours, for the l2 norm of a sentence. `gradient: raw` is Algorithm 1 to the letter.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = movement_checks("r/moved", "r")
    num_steps: NonNegativeInt = field(1, symbol="K")
    """ascent steps of r"""
    step_size: PositiveFloat = field(0.5, symbol="eta")
    """length of a step, in embedding units, stated for `ball.given_for`; of a raw gradient the factor"""
    scale: PositiveFloat = field(1e-3, symbol="s")
    """standard deviation of the start r ~ N(0, s^2), in embedding units"""
    ball: Ball = Ball(norm="l2", radius=1.0, given_for="l2")
    """the ball r stays in"""
    gradient: Literal["normalised", "raw"] = "normalised"
    """a step goes along g / ||g||_P, or along g as it is"""
    ascent: AscentDirection = field("gradient", neutral="gradient")
    """steps go up the gradient, down it (`flipped`), or up it and end as random signs of the same l2 norm (`noise`)"""

    def reach(self) -> None:
        """Return None: a normal start has no farthest entry."""

    def init(self, anchor: Anchor, streams: Streams) -> VirtualState:
        bound = self.ball.around(anchor.perturbable, anchor.embeddings)
        noise = self.scale * normal_rows(anchor, streams, "r", anchor.embeddings.shape[-1])
        # Algorithm 1 projects after its steps only. Decision 0015.
        start = bound.project(noise * anchor.perturbable[:, :, None])
        signs = control_signs(anchor, streams) if self.ascent == "noise" else None
        return VirtualState(start, start, bound, anchor.perturbable, signs)

    def apply(self, state: VirtualState) -> Change:
        return Change(state.delta)

    def update(self, state: VirtualState, gradient: Change, t: int) -> VirtualState:
        """Take one step uphill; after the last step r stays."""
        if t > self.num_steps:
            return state
        g = perturbable_gradient(state, -gradient if self.ascent == "flipped" else gradient)
        moved = replace(state, delta=state.ball.project(self._along(state, g)))
        if state.signs is None or t < self.num_steps:
            return moved
        return replace(moved, delta=of_norm(state.signs, moved.delta))

    def _along(self, state: VirtualState, g: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        if self.gradient == "raw":
            return state.delta + self.step_size * g
        return state.delta + state.ball.length(self.step_size) * state.ball.unit(g)
