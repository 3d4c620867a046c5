"""A union of several transformations."""

from dataclasses import dataclass

import numpy as np

from rse_study.evaluation.attacks.attack import Transformation
from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class CompositeTransformation:
    """Offers the words of all its transformations, each word once."""

    transformations: tuple[Transformation, ...]

    def replacements(self, text: AttackedText, position: int, generator: np.random.Generator) -> list[str]:
        offers = (each.replacements(text, position, generator) for each in self.transformations)
        return list(dict.fromkeys(word for offer in offers for word in offer))
