"""Projected gradient ascent on the word embeddings."""

from typing import ClassVar

from pydantic import NonNegativeInt, PositiveFloat

from rse_study.perturbations.ascent import Change
from rse_study.perturbations.sentence_level import DeltaState, SentenceLevel, perturbable_gradient
from rse_study.spec import field
from rse_study.tensors import Float, Tensor


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
