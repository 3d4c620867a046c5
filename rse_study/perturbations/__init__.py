"""The registry of perturbations in training, each a player of the one ascent loop."""

from rse_study.perturbations.ascent import Player
from rse_study.perturbations.blend import Blend
from rse_study.perturbations.sentence_level import FGSM, PGD, VirtualAdversarial
from rse_study.perturbations.site_masks import ViewMasks, WeakeningMasks
from rse_study.perturbations.token_level import TokenLevel
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
"""All players by name, for conformance tests, the saturation check and docs/methods.md."""

__all__ = ["PERTURBATIONS"]
