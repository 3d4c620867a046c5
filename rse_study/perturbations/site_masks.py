"""Weakening masks on the first layers' outputs, learnt by the ascent (L2P-CSR)."""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

from pydantic import NonNegativeInt, PositiveFloat, model_validator

from rse_study.perturbations import geometry
from rse_study.perturbations.ascent import Anchor, Change, SiteMask
from rse_study.perturbations.geometry import feature_rows, uniform_rows
from rse_study.results.manipulation import LIMITS, Checks, ManipulationCheck
from rse_study.spec import Spec, field
from rse_study.streams import Streams
from rse_study.tensors import Bool, Float, Tensor, torch


@dataclass(frozen=True)
class KeepProbabilities:
    """Keep probabilities of every site."""

    tokens: Float[Tensor, "k n l"]
    features: Float[Tensor, "k n d"]
    mask: Bool[Tensor, "n l"]
    """True = real token"""


class SiteMasks(Spec):
    """Base class of masks that are moved by the ascent (L2P-CSR eqs 1-8).

    mask = 1 where p >= phi, p moved by the gradient with respect to the mask. All real tokens count, special ones
    included.
    """

    checks: ClassVar[Checks] = tuple(
        ManipulationCheck(
            f"masks/{what}",
            f"the {what}' masks",
            *LIMITS["masks/"],
            "views that they do not weaken",
            zero_is_off=True,
        )
        for what in ("tokens", "features")
    )
    phi: float = field(0.0, symbol="phi", ge=0, le=1)
    """probability p below which a token or feature is weakened; 0 weakens nothing"""
    num_layers: NonNegativeInt = field(2, symbol="k")
    """first layers whose outputs are weakened, beside the embedding block's; a shared one at each application"""
    step_size: PositiveFloat = field(0.5, symbol="lr_p")
    """length of a step of p along g / ||g||_2, in probability; of a sign step its size in every entry"""
    # Appendix B: the embedding block and the first k layers; section 4.1 says l = 0..k-1 (`below_k`).
    sites: Literal["through_k", "below_k"] = "through_k"
    """weakened outputs: the embedding block's and those of layers 1..k, or of 1..k-1"""

    @property
    def num_sites(self) -> int:
        return self.num_layers + (self.sites == "through_k")

    def reach(self) -> None:
        """Return None: probabilities have no ball."""

    def init(self, anchor: Anchor, streams: Streams, *, is_shared: bool = False) -> KeepProbabilities:
        """Draw p ~ U(0, 1) (eq 4), keyed by row like all noise of a batch."""
        tokens = uniform_rows(anchor, streams, "masks", self.num_sites).permute(2, 0, 1)
        features = feature_rows(anchor, streams, self.num_sites, is_shared=is_shared)
        return KeepProbabilities(tokens, features, anchor.mask)

    def apply(self, state: KeepProbabilities) -> Change:
        """Mask every site (eq 1)."""
        pairs = zip(self.cut(state.tokens), self.cut(state.features), strict=True)
        return Change(masks=tuple(SiteMask(tokens, features) for tokens, features in pairs))

    def cut(self, probabilities: Float[Tensor, "k n x"]) -> Float[Tensor, "k n x"]:
        """Return the masks of probabilities."""
        return (probabilities >= self.phi).to(probabilities.dtype)

    def update(self, state: KeepProbabilities, gradient: Change, t: int) -> KeepProbabilities:
        """Step to p <- clip01(p + lr_p * g / ||g||_2), g by the masks (eqs 5-8)."""
        tokens = torch.stack([site.tokens for site in gradient.masks]) * state.mask
        features = torch.stack([site.features for site in gradient.masks])
        return replace(
            state,
            tokens=(state.tokens + self.step_size * self.along(tokens)).clamp(0, 1),
            features=(state.features + self.step_size * geometry.unit(features, "l2")).clamp(0, 1),
        )

    def along(self, tokens: Float[Tensor, "k n l"]) -> Float[Tensor, "k n l"]:
        """Return the direction of a step of the tokens' p."""
        return geometry.unit(tokens, "l2")


class ViewMasks(SiteMasks):
    """Masks of two views, moved so that their loss rises (L2P-CSR eqs 1-8).

    mask = 1 where p >= phi, p moved by the gradient with respect to the mask. p is drawn anew each batch, for every
    view by itself. All real tokens count, special ones included. `num_steps` 0 is the paper's row without learning;
    `values: continual` has p itself as the mask.
    """

    semantics: ClassVar[int] = 1
    phi: float = field(0.05, symbol="phi", ge=0, le=1)
    """probability p below which a token or feature is weakened; 0 weakens nothing"""
    num_steps: NonNegativeInt = field(5, symbol="t")  # the paper gives none
    """ascent steps of p; 0 learns nothing"""
    tokens: Literal["learnt", "none"] = "learnt"
    """the token masks; without them the token half of every weight is 1"""
    features: Literal["learnt", "none", "shared"] = "learnt"  # shared: released code
    """the feature masks: one a sentence, none (their half of every weight is 1), or one a view"""
    values: Literal["binary", "continual"] = "binary"
    """what weighs: the mask 0 or 1 that phi cuts, or p itself"""
    token_step: Literal["normalised", "sign"] = "normalised"  # sign: released code
    """direction of a step of the tokens' p: g / ||g||_2, or sign(g)"""

    @model_validator(mode="after")
    def _somewhere(self) -> "ViewMasks":
        if self.num_sites == 0:
            raise ValueError("masks need a site. Raise num_layers, or set sites: through_k")
        if self.tokens == self.features == "none":
            raise ValueError(
                "masks of neither tokens nor features weaken nothing. Set one of `tokens` and `features`"
            )
        return self

    def init(self, anchor: Anchor, streams: Streams, *, is_shared: bool = False) -> KeepProbabilities:
        return super().init(anchor, streams, is_shared=is_shared or self.features == "shared")

    def apply(self, state: KeepProbabilities) -> Change:
        """Mask every site (eq 1), but for the half that is left out."""
        change = super().apply(state)
        if self.tokens == "none":
            masks = [SiteMask(torch.ones_like(site.tokens), site.features) for site in change.masks]
        elif self.features == "none":
            masks = [SiteMask(site.tokens, torch.ones_like(site.features)) for site in change.masks]
        else:
            return change
        return Change(masks=tuple(masks))

    def cut(self, probabilities: Float[Tensor, "k n x"]) -> Float[Tensor, "k n x"]:
        return probabilities if self.values == "continual" else super().cut(probabilities)

    def update(self, state: KeepProbabilities, gradient: Change, t: int) -> KeepProbabilities:
        return state if t > self.num_steps else super().update(state, gradient, t)

    def along(self, tokens: Float[Tensor, "k n l"]) -> Float[Tensor, "k n l"]:
        return tokens.sign() if self.token_step == "sign" else super().along(tokens)


class WeakeningMasks(SiteMasks):
    """Masks of the adversarial view, moved by the ascent (L2P-CSR eqs 1-8).

    mask = 1 where p >= phi, p moved by the gradient with respect to the mask. Inside RobustSentEmbed p is drawn anew
    each batch and weakens the adversarial view only. All real tokens count, special ones included.
    """

    semantics: ClassVar[int] = 1

    @model_validator(mode="after")
    def _somewhere(self) -> "WeakeningMasks":
        if self.phi > 0 and self.num_sites == 0:
            raise ValueError("phi > 0 needs a site. Raise num_layers, or set sites: through_k")
        return self

    @property
    def num_steps(self) -> int:
        """0: the masks move as long as delta does, max(K, T) updates."""
        return 0
