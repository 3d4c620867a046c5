"""Projected gradient ascent on the word embeddings."""

from dataclasses import dataclass, replace
from typing import ClassVar

from jaxtyping import Bool, Float
from pydantic import NonNegativeInt, PositiveFloat
from torch import Tensor

from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.ball import Ball, BoundBall
from rse_study.perturbations.noise import start_delta
from rse_study.spec import Spec, field
from rse_study.streams import Streams


@dataclass(frozen=True)
class Moving:
    """A sentence-level perturbation on its way."""

    delta: Float[Tensor, "b l d"]
    start: Float[Tensor, "b l d"]
    ball: BoundBall
    perturbable: Bool[Tensor, "b l"]

    def to(self, delta: Float[Tensor, "b l d"]) -> "Moving":
        """The same perturbation elsewhere, inside its ball."""
        return replace(self, delta=self.ball.project(delta))


def start(ball: Ball, anchor: Anchor, streams: Streams, sigma: float) -> Moving:
    """delta0, zeroed outside perturbable tokens and projected."""
    bound = ball.around(anchor.perturbable, anchor.embeddings)
    delta = bound.project(start_delta(anchor, streams, sigma))
    return Moving(delta, delta, bound, anchor.perturbable)


class PGD(Spec):
    """Projected gradient ascent on word embeddings (Madry et al. 2018; RobustSentEmbed eq 5)."""

    semantics: ClassVar[int] = 1
    ball: Ball = Ball()
    num_steps: NonNegativeInt = field(5, symbol="K")  # the loop runs the largest of its players
    step_size: PositiveFloat = field(1e-5, symbol="alpha")  # a length in ball.given_for
    sigma: PositiveFloat = field(0.1, symbol="sigma")  # width of the random start, before 1/sqrt(d)

    def init(self, anchor: Anchor, streams: Streams) -> Moving:
        """delta0 of Algorithm 1."""
        return start(self.ball, anchor, streams, self.sigma)

    def apply(self, state: Moving) -> Change:
        """X + delta."""
        return Change(state.delta)

    def update(self, state: Moving, gradient: Change, t: int) -> Moving:
        """delta <- Proj(delta + alpha * g / ||g||_P), eq 5; stays after its last step."""
        return state if t > self.num_steps else self.step(state, state.delta, gradient)

    def step(self, state: Moving, origin: Float[Tensor, "b l d"], gradient: Change) -> Moving:
        """One step of eq 5 that starts at `origin`."""
        assert gradient.addition is not None
        g = gradient.addition * state.perturbable[:, :, None]
        return state.to(origin + state.ball.length(self.step_size) * state.ball.unit(g))
