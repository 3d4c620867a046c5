"""Weakening masks of the adversarial view alone (L2P-CSR in RobustSentEmbed)."""

from typing import ClassVar

from pydantic import model_validator

from rse_study.perturbations.site_masks import SiteMasks


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
