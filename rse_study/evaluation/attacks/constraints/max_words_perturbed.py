"""A limit on the share of words that may be changed."""

import math
from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class MaxWordsPerturbed:
    """Allows changes to at most a share of the text's words."""

    share: float
    """0..1; the number of words is rounded up"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return len({position, *text.changed}) <= math.ceil(self.share * len(text))
