"""Weakening masks of two views, learnt against each other (L2P-CSR)."""

from typing import ClassVar, Literal

from pydantic import NonNegativeInt, model_validator

from rse_study.perturbations.ascent import Anchor, Change, SiteMask
from rse_study.perturbations.site_masks import KeepProbabilities, SiteMasks
from rse_study.spec import field
from rse_study.streams import Streams
from rse_study.tensors import Float, Tensor, torch


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
