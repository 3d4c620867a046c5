"""Each position changes at most once."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import Worded


@dataclass(frozen=True)
class NoRepeat:
    """A word that was changed may not be changed again."""

    def allows(self, worded: Worded, position: int) -> bool:
        return position not in dict(worded.changes)
