"""Stop words stay."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class StopwordModification:
    """A stop word may not be changed.

    Case is kept, as in TextAttack: "The" is no stop word.
    """

    stopwords: frozenset[str]
    """in lower case"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return text.word(position) not in self.stopwords
