"""Only a share of the words may change."""

import math
from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class MaxWordsPerturbed:
    """At most `share` (0..1) of the text's words, rounded up."""

    share: float

    def allows(self, text: AttackedText, position: int) -> bool:
        return len({position, *text.changed}) <= math.ceil(self.share * len(text))
