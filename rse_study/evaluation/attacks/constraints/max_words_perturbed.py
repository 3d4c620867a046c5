"""Only a share of the words may change."""

import math
from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import Worded


@dataclass(frozen=True)
class MaxShare:
    """At most `share` (0..1) of the text's words, rounded up."""

    share: float

    def allows(self, worded: Worded, position: int) -> bool:
        return len({position, *worded.changed}) <= math.ceil(self.share * len(worded))
