"""Fast gradient sign steps on the word embeddings."""

from typing import ClassVar

from jaxtyping import Float
from pydantic import NonNegativeInt, PositiveFloat
from torch import Tensor

from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.ball import Ball
from rse_study.perturbations.pgd import Moving, start
from rse_study.spec import Spec, field
from rse_study.streams import Streams


class FGSM(Spec):
    """Iterated gradient sign steps (Goodfellow et al. 2015; RobustSentEmbed eq 6)."""

    semantics: ClassVar[int] = 1
    ball: Ball = Ball()
    num_steps: NonNegativeInt = field(5, symbol="T")
    step_size: PositiveFloat = field(1e-3, symbol="beta")  # per entry, whatever the ball's norm is
    sigma: PositiveFloat = field(0.1, symbol="sigma")

    def init(self, anchor: Anchor, streams: Streams) -> Moving:
        """delta0 of Algorithm 1, the same as PGD's."""
        return start(self.ball, anchor, streams, self.sigma)

    def apply(self, state: Moving) -> Change:
        """X + delta."""
        return Change(state.delta)

    def update(self, state: Moving, gradient: Change, t: int) -> Moving:
        """delta <- Proj(delta + beta * sign(g)), eq 6; stays after its last step."""
        return state if t > self.num_steps else self.step(state, state.delta, gradient)

    def step(self, state: Moving, origin: Float[Tensor, "b l d"], gradient: Change) -> Moving:
        """One step of eq 6 that starts at `origin`; sign(0) = 0."""
        assert gradient.addition is not None
        g = gradient.addition * state.perturbable[:, :, None]
        return state.to(origin + self.step_size * g.sign())
