"""A constraint on which sentence of a pair may be changed."""

from dataclasses import dataclass
from typing import Literal

from rse_study.evaluation.attacks.attacked_text import AttackedText

Sides = Literal["both", "first", "second"]


@dataclass(frozen=True)
class InputColumnModification:
    """Allows changes on one side of a pair; a single sentence may always be changed."""

    sides: Sides

    def allows(self, text: AttackedText, position: int) -> bool:
        if self.sides == "both" or len(text.original) == 1:
            return True
        return text.spans[position].side == ("first", "second").index(self.sides)
