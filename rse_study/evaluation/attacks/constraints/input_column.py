"""Which sentence of a pair may be changed."""

from dataclasses import dataclass
from typing import Literal

from rse_study.evaluation.attacks.attacked_text import Worded

Sides = Literal["both", "first", "second"]


@dataclass(frozen=True)
class OnlySide:
    """Changes stay on one side of a pair; a single sentence may always be changed."""

    sides: Sides

    def allows(self, worded: Worded, position: int) -> bool:
        if self.sides == "both" or len(worded.original) == 1:
            return True
        return worded.spans[position].side == ("first", "second").index(self.sides)
