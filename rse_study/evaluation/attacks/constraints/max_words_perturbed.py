"""Only a share of the words may change."""

import math
from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class MaxWordsPerturbed:
    """Only so many of the text's words may be changed."""

    share: float
    """0..1, of the words, rounded up"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return len({position, *text.changed}) <= math.ceil(self.share * len(text))
