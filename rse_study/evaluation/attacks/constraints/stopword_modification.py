"""A constraint that leaves stop words alone."""

from dataclasses import dataclass

from rse_study.evaluation.attacks.attacked_text import AttackedText


@dataclass(frozen=True)
class StopwordModification:
    """Allows changes of all words but stop words; "The" is none, as in TextAttack."""

    stopwords: frozenset[str]
    """in lower case"""

    def allows(self, text: AttackedText, position: int) -> bool:
        return text.word(position) not in self.stopwords
