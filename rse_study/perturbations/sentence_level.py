"""What PGD and FGSM share: a delta per sentence that starts at delta0 and takes a number of steps in a ball."""

from abc import abstractmethod
from dataclasses import dataclass, replace

from jaxtyping import Bool, Float
from pydantic import NonNegativeInt, PositiveFloat
from torch import Tensor

from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.ball import Ball, BoundBall
from rse_study.perturbations.noise import start_delta
from rse_study.spec import Spec, field
from rse_study.streams import Streams


@dataclass(frozen=True)
class DeltaState:
    """A sentence-level perturbation on its way."""

    delta: Float[Tensor, "b l d"]
    start: Float[Tensor, "b l d"]
    ball: BoundBall
    perturbable: Bool[Tensor, "b l"]

    def to(self, delta: Float[Tensor, "b l d"]) -> "DeltaState":
        """The same perturbation elsewhere, inside its ball."""
        return replace(self, delta=self.ball.project(delta))


class SentenceLevel(Spec):
    """A player that moves delta [b l d]; subclasses say what a step is."""

    ball: Ball = Ball()
    """the ball delta stays in"""
    num_steps: NonNegativeInt = 5
    """steps; the loop runs the largest number of its players"""
    sigma: PositiveFloat = field(0.1, symbol="sigma")
    """half width of the start delta0 ~ U(-sigma, sigma) / sqrt(d), in embedding units times sqrt(d)"""

    def init(self, anchor: Anchor, streams: Streams) -> DeltaState:
        """delta0 of Algorithm 1, zeroed outside perturbable tokens and projected."""
        bound = self.ball.around(anchor.perturbable, anchor.embeddings)
        delta = bound.project(start_delta(anchor, streams, self.sigma))
        return DeltaState(delta, delta, bound, anchor.perturbable)

    def apply(self, state: DeltaState) -> Change:
        """X + delta."""
        return Change(state.delta)

    def update(self, state: DeltaState, gradient: Change, t: int) -> DeltaState:
        """One step from where delta is; after its last step it stays."""
        return state if t > self.num_steps else self.step(state, state.delta, gradient)

    @abstractmethod
    def step(self, state: DeltaState, origin: Float[Tensor, "b l d"], gradient: Change) -> DeltaState:
        """One step that starts at `origin`."""


def perturbable_gradient(state: DeltaState, gradient: Change) -> Float[Tensor, "b l d"]:
    """The gradient, zeroed outside perturbable tokens before any norm or sign is taken."""
    assert gradient.addition is not None
    return gradient.addition * state.perturbable[:, :, None]
