"""Fast gradient sign steps on the word embeddings."""

from typing import ClassVar

from pydantic import NonNegativeInt, PositiveFloat

from rse_study.perturbations.ascent import Change
from rse_study.perturbations.sentence_level import DeltaState, SentenceLevel, perturbable_gradient
from rse_study.spec import field
from rse_study.tensors import Float, Tensor


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
