"""The virtual adversarial perturbation: no label, only the distance between two outputs (V-advCSE)."""

from typing import ClassVar, Literal

import torch
from pydantic import NonNegativeInt, PositiveFloat

from rse_study.perturbations.ascent import Anchor, Change
from rse_study.perturbations.ball import Ball
from rse_study.perturbations.noise import normal_rows
from rse_study.perturbations.sentence_level import Moving, perturbable_gradient
from rse_study.spec import Spec, field
from rse_study.streams import Streams


class VirtualAdversarial(Spec):
    """r ~ N(0, s^2), then `num_steps` times r <- Proj(r + step * g) (V-advCSE Algorithm 1).

    r starts away from 0, where the gradient of every divergence vanishes. The paper gives neither s nor epsilon nor the
    step; these are ours, for the l2 norm of a sentence. `gradient: raw` is Algorithm 1 to the letter.
    """

    semantics: ClassVar[int] = 1
    num_steps: NonNegativeInt = field(1, symbol="K")
    step_size: PositiveFloat = field(
        0.5, symbol="eta"
    )  # a length in ball.given_for; of a raw gradient a factor
    scale: PositiveFloat = field(1e-3, symbol="s")
    ball: Ball = Ball(norm="l2", radius=1.0, given_for="l2")
    gradient: Literal["normalised", "raw"] = "normalised"

    def init(self, anchor: Anchor, streams: Streams) -> Moving:
        """The random start, on perturbable tokens only, projected."""
        bound = self.ball.around(anchor.perturbable, anchor.embeddings)
        noise = self.scale * normal_rows(anchor, streams, "r", anchor.embeddings.shape[-1])
        start = bound.project(noise * anchor.perturbable[:, :, None])
        return Moving(start, start, bound, anchor.perturbable)

    def apply(self, state: Moving) -> Change:
        """X + r."""
        return Change(state.delta)

    def update(self, state: Moving, gradient: Change, t: int) -> Moving:
        """One step uphill; after its last step it stays."""
        if t > self.num_steps:
            return state
        g = perturbable_gradient(state, gradient)
        if self.gradient == "raw":
            return state.to(state.delta + self.step_size * g)
        return state.to(state.delta + state.ball.length(self.step_size) * state.ball.unit(g))


def moved(state: Moving) -> torch.Tensor:
    """||r||_2 of every sentence, [b]."""
    return state.delta.flatten(1).norm(dim=1)
