"""Each position changes at most once."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class RepeatModification:
    """A word that was changed may not be changed again."""

    def allows(self, text: AttackedText, position: int) -> bool:
        return position not in dict(text.changes)
