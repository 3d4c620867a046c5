"""Weakening masks on the first layers' outputs, learnt by the ascent (L2P-CSR)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveFloat, model_validator

from rse_study.perturbations import geometry
from rse_study.perturbations.ascent import OFF_CHECKS, Anchor, Change, SiteMask
from rse_study.perturbations.noise import feature_rows, uniform_rows
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Float, Tensor, torch


@dataclass(frozen=True)
class Probabilities:
    """Keep probabilities of every site."""

    tokens: Float[Tensor, "k b l"]
    features: Float[Tensor, "k b d"]
    mask: Bool[Tensor, "b l"]
    """True = real token"""


class WeakeningMasks(Spec):
    """Masks of the adversarial view, moved by the ascent (L2P-CSR eqs 1-8).

    mask = 1 where p >= phi, p moved by the gradient with respect to the mask. Inside RobustSentEmbed p is drawn anew
    each batch and weakens the adversarial view only. All real tokens count, special ones included.
    """

    semantics: ClassVar[int] = 1
    checks: ClassVar = OFF_CHECKS
    phi: float = field(0.0, symbol="phi", ge=0, le=1)
    """probability p below which a token or feature is weakened; 0 draws nothing and weakens nothing"""
    num_layers: NonNegativeInt = field(2, symbol="k")
    """first layers whose outputs are weakened, the embedding block's output beside them"""
    step_size: PositiveFloat = field(0.5, symbol="lr_p")
    """length of a step of p along g / ||g||_2, in probability"""
    # Appendix B: the embedding block and the first k layers; section 4.1 says l = 0..k-1 (`below_k`).
    sites: Literal["through_k", "below_k"] = "through_k"
    """weakened outputs: the embedding block's and those of layers 1..k, or of 1..k-1"""

    @model_validator(mode="after")
    def _somewhere(self) -> "WeakeningMasks":
        if self.phi > 0 and self.num_sites == 0:
            raise ValueError("phi > 0 needs a site. Raise num_layers, or set sites: through_k")
        return self

    @property
    def num_steps(self) -> int:
        """0: the masks move as long as delta does, max(K, T) updates."""
        return 0

    @property
    def num_sites(self) -> int:
        return self.num_layers + (self.sites == "through_k")

    def reach(self) -> None:
        """Return None: probabilities have no ball."""

    def init(self, anchor: Anchor, streams: Streams) -> Probabilities:
        """Draw p ~ U(0, 1) (eq 4), keyed by row like all noise of a batch."""
        tokens = uniform_rows(anchor, streams, "masks", self.num_sites)
        features = feature_rows(anchor, streams, self.num_sites)
        return Probabilities(tokens.permute(2, 0, 1), features, anchor.mask)

    def apply(self, state: Probabilities) -> Change:
        """Mask every site (eq 1)."""
        tokens, features = (state.tokens >= self.phi), (state.features >= self.phi)
        return Change(
            masks=tuple(
                SiteMask(token.to(state.tokens.dtype), feature.to(state.tokens.dtype))
                for token, feature in zip(tokens, features, strict=True)
            )
        )

    def update(self, state: Probabilities, gradient: Change, t: int) -> Probabilities:
        """Step to p <- clip01(p + lr_p * g / ||g||_2), g by the binary masks (eqs 5-8)."""
        tokens = torch.stack([site.tokens for site in gradient.masks]) * state.mask
        features = torch.stack([site.features for site in gradient.masks])
        return replace(
            state,
            tokens=(state.tokens + self.step_size * geometry.unit(tokens, "l2")).clamp(0, 1),
            features=(state.features + self.step_size * geometry.unit(features, "l2")).clamp(0, 1),
        )
