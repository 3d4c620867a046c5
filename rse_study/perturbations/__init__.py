"""The registry of perturbations: training time, embedding space.

Each is a player of the one ascent loop.
"""

from rse_study.perturbations.ascent import Player
from rse_study.perturbations.blend import Blend
from rse_study.perturbations.fgsm import FGSM
from rse_study.perturbations.pgd import PGD
from rse_study.perturbations.token_level import TokenLevel
from rse_study.perturbations.view_masks import ViewMasks
from rse_study.perturbations.virtual_adversarial import VirtualAdversarial
from rse_study.perturbations.weakening_masks import WeakeningMasks
from rse_study.registry import Registry

PERTURBATIONS: Registry[type[Player]] = Registry(
    "perturbation",
    {
        "pgd": PGD,
        "fgsm": FGSM,
        "blend": Blend,
        "token_level": TokenLevel,
        "weakening_masks": WeakeningMasks,
        "view_masks": ViewMasks,
        "virtual_adversarial": VirtualAdversarial,
    },
)
"""Every player by name: conformance tests, the check for saturation and docs/methods.md go through it."""

__all__ = ["PERTURBATIONS"]
