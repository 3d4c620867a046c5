"""A constraint that lets each position change at most once."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class RepeatModification:
    """Allows a change only of words that were not changed before."""

    def allows(self, text: AttackedText, position: int) -> bool:
        return position not in dict(text.changes)
