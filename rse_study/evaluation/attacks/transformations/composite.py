"""What several transformations offer."""

from dataclasses import dataclass

import numpy as np

from rse_study.evaluation.attacks.attack import Transformation
from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class CompositeTransformation:
    """Their words one after the other, each once."""

    transformations: tuple[Transformation, ...]

    def replacements(self, worded: AttackedText, position: int, draw: np.random.Generator) -> list[str]:
        offers = (each.replacements(worded, position, draw) for each in self.transformations)
        return list(dict.fromkeys(word for offer in offers for word in offer))
