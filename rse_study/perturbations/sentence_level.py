"""The base of PGD and FGSM: one delta per sentence that takes steps in a ball."""

import dataclasses
import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveFloat

from rse_study.perturbations import geometry
from rse_study.perturbations.ascent import Anchor, Change, Reach
from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Float, Tensor


class Ball(Spec):
    """||.||_P <= radius, per sentence or per token (RobustSentEmbed eqs 4-6)."""

    norm: geometry.Norm = field("linf", symbol="P")
    """P of the ball and of g / ||g||_P"""
    radius: PositiveFloat = field(3e-2, symbol="epsilon")
    """largest P-norm of the perturbation, in embedding units, a length in `given_for`"""
    given_for: geometry.Norm = "linf"
    """the norm in which radius and step sizes are stated"""
    scope: Literal["sentence", "token"] = "sentence"
    """coordinates under one norm: a sentence's [l d], or a token's [d]"""
    strength: Literal["matched", "literal"] = "matched"
    """lengths under another norm than `given_for`: converted by the number of coordinates, or taken as they are"""
    projection: Literal["exact", "rescale"] = "exact"
    """Proj for l1: to the nearest point of the ball, or along the radius; other norms are always exact"""

    def around(self, perturbable: Bool[Tensor, "b l"], like: Float[Tensor, "b l d"]) -> "BoundBall":
        width = like.shape[-1]
        per_row = perturbable.sum(1).to(like.dtype) * width
        num_coordinates = per_row if self.scope == "sentence" else per_row.new_full(per_row.shape, width)
        return BoundBall(self, num_coordinates[:, None, None])


@dataclasses.dataclass(frozen=True)
class BoundBall:
    """A ball with each row's number of perturbable coordinates, [b 1 1]."""

    ball: Ball
    num_coordinates: Float[Tensor, "b 1 1"]
    _lengths: dict[float, Float[Tensor, "b 1 1"]] = dataclasses.field(default_factory=dict)

    def length(self, given: float) -> Float[Tensor, "b 1 1"]:
        """Convert a length stated for `ball.given_for` to this ball's norm."""
        if given not in self._lengths:
            given_for = self.ball.given_for if self.ball.strength == "matched" else self.ball.norm
            self._lengths[given] = geometry.matched(given, given_for, self.ball.norm, self.num_coordinates)
        return self._lengths[given]

    def project(self, x: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        """Project x into the ball (eqs 4-6)."""
        is_radial = self.ball.projection == "rescale" and self.ball.norm == "l1"
        move = geometry.rescale if is_radial else geometry.project
        return self._grouped(x, lambda groups, r: move(groups, self.ball.norm, r))

    def unit(self, g: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        """Return g / ||g||_P over the ball's scope."""
        return self._grouped(g, lambda groups, _: geometry.unit(groups, self.ball.norm))

    def on_bound(self, x: Float[Tensor, "b l d"], perturbable: Bool[Tensor, "b l"]) -> tuple[Tensor, Tensor]:
        """Return which coordinates or groups are on the bound, and which may move.

        Both are [b l d] for linf; for l1 and l2 [b l 1] (tokens) or [b 1 1] (sentences).
        """
        radius = self.length(self.ball.radius) * (1 - 1e-5)
        if self.ball.norm == "linf":
            return x.abs() >= radius, perturbable[:, :, None].expand_as(x)
        if self.ball.scope == "token":
            return geometry.norm_of(x, self.ball.norm) >= radius, perturbable[:, :, None]
        norms = geometry.norm_of(x.flatten(1), self.ball.norm)[:, :, None]
        return norms >= radius, perturbable.any(1)[:, None, None]

    def _grouped(self, x: Tensor, move) -> Tensor:  # type: ignore[no-untyped-def]
        radius = self.length(self.ball.radius)
        if self.ball.scope == "token":
            return move(x, radius)
        return move(x.flatten(1), radius[:, 0]).view_as(x)


# The width d is not known before the encoder is; a smaller d would start farther out.
SMALLEST_WIDTH = 64
LARGEST_WIDTH = 1024
"""of bert-large: a larger d would start closer to 0"""


def movement_checks(metric: str, part: str) -> Checks:
    """Return the checks of a delta that moves away from its random start."""
    return (
        ManipulationCheck(
            metric, part, *LIMITS["/moved"], "random noise, not an adversary", zero_is_off=True
        ),
        ManipulationCheck(f"{metric}_of_bound", part, "it moves by {} of the radius of its ball"),
    )  # fmt: skip


def saturation_check(metric: str, part: str) -> ManipulationCheck:
    """Return the check that the bound leaves a step size something to decide."""
    return ManipulationCheck(metric, part, *LIMITS["/on_bound"], "the bound alone", at_most=True)


@dataclass(frozen=True)
class DeltaState:
    """A perturbation, delta or eta, during the ascent."""

    delta: Float[Tensor, "b l d"]
    start: Float[Tensor, "b l d"]
    ball: BoundBall
    perturbable: Bool[Tensor, "b l"]

    def to(self, delta: Float[Tensor, "b l d"]) -> "DeltaState":
        return replace(self, delta=self.ball.project(delta))

    def moved(self) -> tuple[Float[Tensor, " b"], Bool[Tensor, " b"]]:
        """Return ||delta - delta0||_2 / ||delta0||_2 of each sentence, and which may move."""
        distance = (self.delta - self.start).flatten(1).norm(dim=1)
        return distance / self.start.flatten(1).norm(dim=1), self.perturbable.any(1)

    def moved_of_bound(self) -> tuple[Float[Tensor, "b n"], Bool[Tensor, "b n"]]:
        """Return ||delta - delta0||_P by the radius, and which may move."""
        ball, moved, is_perturbable = self.ball.ball, self.delta - self.start, self.perturbable
        if ball.scope == "sentence":
            moved, is_perturbable = moved.flatten(1)[:, None], is_perturbable.any(1, keepdim=True)
        return (geometry.norm_of(moved, ball.norm) / self.ball.length(ball.radius))[:, :, 0], is_perturbable


class SentenceLevel(Spec):
    """A player that moves delta [b l d]; subclasses say what a step is."""

    has_sign_steps: ClassVar[bool] = False
    """whether every entry moves by the whole step size"""
    checks: ClassVar = movement_checks("delta/moved", "delta")
    ball: Ball = Ball()
    """the ball delta stays in"""
    num_steps: NonNegativeInt = 5
    """steps; the loop runs the largest number of its players"""
    sigma: PositiveFloat = field(0.1, symbol="sigma")
    """half width of the start delta0 ~ U(-sigma, sigma) / sqrt(d), in embedding units times sqrt(d)"""
    step_size: PositiveFloat = 1e-3
    """length of a step, in embedding units"""

    def init(self, anchor: Anchor, streams: Streams) -> DeltaState:
        """Start at delta0 of Algorithm 1, on perturbable tokens, projected."""
        bound = self.ball.around(anchor.perturbable, anchor.embeddings)
        delta = bound.project(geometry.start_delta(anchor, streams, self.sigma))
        return DeltaState(delta, delta, bound, anchor.perturbable)

    def apply(self, state: DeltaState) -> Change:
        return Change(state.delta)

    def update(self, state: DeltaState, gradient: Change, t: int) -> DeltaState:
        """Take one step from the current delta; after the last step it stays."""
        return state if t > self.num_steps else self.step(state, state.delta, gradient)

    def reach(self) -> Reach | None:
        """Return the bounds on an entry of delta, if all steps have one length.

        A player whose steps grow or shrink needs a `reach` of its own.
        """
        if self.ball.given_for != "linf" or self.num_steps == 0:
            return None
        path = self.num_steps * self.step_size
        return Reach(path, self.sigma / SMALLEST_WIDTH**0.5, self.ball.radius, self.has_sign_steps)

    @property
    def most_moved(self) -> float:
        """The most that ||delta - delta0||_2 / ||delta0||_2 can be, or infinity."""
        # Under l1 a step may go into one entry.
        if self.ball.given_for != "linf" or (self.ball.norm == "l1" and not self.has_sign_steps):
            return math.inf
        return self.num_steps * self.step_size * (3 * LARGEST_WIDTH) ** 0.5 / self.sigma

    @abstractmethod
    def step(self, state: DeltaState, origin: Float[Tensor, "b l d"], gradient: Change) -> DeltaState:
        """Step from `origin`; what differs from step to step belongs in the state."""


def perturbable_gradient(state: DeltaState, gradient: Change) -> Float[Tensor, "b l d"]:
    """Zero the gradient outside perturbable tokens, before any norm or sign is taken."""
    assert gradient.addition is not None
    return gradient.addition * state.perturbable[:, :, None]


class PGD(SentenceLevel):
    """Projected gradient ascent (Madry et al. 2018; RobustSentEmbed eq 5)."""

    semantics: ClassVar[int] = 1
    num_steps: NonNegativeInt = field(5, symbol="K")
    """steps of PGD"""
    step_size: PositiveFloat = field(1e-5, symbol="alpha")
    """length of a step along g / ||g||_P, in embedding units, stated for `ball.given_for`"""

    def step(self, state: DeltaState, origin: Float[Tensor, "b l d"], gradient: Change) -> DeltaState:
        """Step to delta <- Proj(origin + alpha * g / ||g||_P), eq 5."""
        direction = state.ball.unit(perturbable_gradient(state, gradient))
        return state.to(origin + state.ball.length(self.step_size) * direction)


class FGSM(SentenceLevel):
    """Iterated gradient sign steps (Goodfellow et al. 2015; RobustSentEmbed eq 6)."""

    semantics: ClassVar[int] = 1
    has_sign_steps: ClassVar[bool] = True
    num_steps: NonNegativeInt = field(5, symbol="T")
    """steps of FGSM"""
    step_size: PositiveFloat = field(1e-3, symbol="beta")
    """size of a step in every entry, in embedding units, whatever the ball's norm is"""

    def step(self, state: DeltaState, origin: Float[Tensor, "b l d"], gradient: Change) -> DeltaState:
        """Step to delta <- Proj(origin + beta * sign(g)), eq 6; sign(0) = 0."""
        return state.to(origin + self.step_size * perturbable_gradient(state, gradient).sign())


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
    ascent: geometry.AscentDirection = field("gradient", neutral="gradient")
    """steps go up the gradient, down it (`flipped`), or up it and end as random signs of the same l2 norm (`noise`)"""

    def reach(self) -> None:
        """Return None: a normal start has no farthest entry."""

    def init(self, anchor: Anchor, streams: Streams) -> VirtualState:
        bound = self.ball.around(anchor.perturbable, anchor.embeddings)
        noise = self.scale * geometry.normal_rows(anchor, streams, "r", anchor.embeddings.shape[-1])
        # Algorithm 1 projects after its steps only. Decision 0015.
        start = bound.project(noise * anchor.perturbable[:, :, None])
        signs = geometry.control_signs(anchor, streams) if self.ascent == "noise" else None
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
        return replace(moved, delta=geometry.of_norm(state.signs, moved.delta))

    def _along(self, state: VirtualState, g: Float[Tensor, "b l d"]) -> Float[Tensor, "b l d"]:
        if self.gradient == "raw":
            return state.delta + self.step_size * g
        return state.delta + state.ball.length(self.step_size) * state.ball.unit(g)
